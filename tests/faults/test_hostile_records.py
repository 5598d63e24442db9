"""What nobody should have sent: good turns go through, and no word is left in the clear."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from schemas.partitioning import partition_for
from tests.support.chat_client import ChatClient
from tests.support.conversations import Conversations
from tests.support.hostile_records import HostileProducer
from tests.support.keyrings import KeyringSite, every_value
from tests.support.pipeline import Pipeline, running_pipeline
from tests.support.pipeline_checks import assert_nothing_lost_or_doubled
from tests.support.user_erasure import keys_of

SEED = 20_260_304

# Words that stand nowhere else. All of them are said, in all the places where users' words go.
WORD = "xylokorybantisch"
USER = f"user-{WORD}"
MARKS = (WORD, "ZWEITWORTQUASTE", "gesprächsquirl", "turnquappe", "antwortmolch")

_numbers = count(1)

HOSTILE: tuple[Callable[[HostileProducer], None], ...] = (
    HostileProducer.without_header,
    HostileProducer.with_a_garbage_header,
    HostileProducer.with_a_bit_of_the_payload_flipped,
    HostileProducer.with_a_bit_of_the_record_id_flipped,
    HostileProducer.with_an_unknown_field,
    HostileProducer.of_a_later_version,
    HostileProducer.to_another_partition,
)


@pytest.fixture(scope="module")
def pipeline() -> Iterator[Pipeline]:
    with running_pipeline(workers=1) as running:
        yield running


def _turn(**changed: Any) -> dict[str, Any]:
    turn = {
        "user_id": USER,
        "conversation_id": "gesprächsquirl",
        "turn_id": "turnquappe-0",
        "user_text": f"I think of {WORD} and ZWEITWORTQUASTE a lot.",
        "assistant_text": "So do I, says antwortmolch.",
    }
    return turn | changed


class TestARecordThatNobodyShouldHaveWritten:
    def test_becomes_a_dead_letter_and_the_next_good_turn_goes_through(
        self, pipeline: Pipeline
    ) -> None:
        client = pipeline.client()
        said = Conversations(seed=SEED, users=1, prefix="neighbour")
        (user,) = said.users
        client.post_lists(said.turns(1))
        keys = keys_of(pipeline, [user])[user]
        partition = partition_for(keys.subject, pipeline.settings.partitions)
        hostile = HostileProducer(pipeline.bootstrap, keys, partition)
        for write in HOSTILE:
            write(hostile)
            hostile.tombstones()
            client.post_lists(said.turns(2))
        pipeline.wait_settled()
        assert_nothing_lost_or_doubled(pipeline, client, note=f"seed {SEED}", among_others=True)
        totals = pipeline.audit()["totals"]
        assert totals["closings"]["dead_lettered"] == len(HOSTILE)
        assert sum(totals["dead_letters"].values()) == len(HOSTILE)
        assert totals["turn_tombstones"] == 2 * len(HOSTILE)


class TestABodyThatCannotBeAccepted:
    @pytest.mark.parametrize(
        ("changed", "field"),
        [
            ({"user_text": f"{WORD} \0 cut"}, "user_text"),
            ({"user_id": f"{WORD}\0"}, "user_id"),
            ({"user_text": f"{WORD} \ud800"}, "user_text"),
            ({"user_id": f"{WORD}\udfff"}, "user_id"),
            ({"user_text": f"{WORD} " * 75_000}, "user_text"),
            ({"user_text": "   "}, "user_text"),
            ({"user_id": WORD * 200}, "user_id"),
            ({"user_text": None}, "user_text"),
            ({"user_text": [WORD]}, "user_text"),
            ({WORD: WORD}, WORD),
            ({"occurred_at": f"{WORD} o'clock"}, "occurred_at"),
            ({"occurred_at": "2999-01-01T00:00:00Z"}, "occurred_at"),
        ],
        ids=[
            "NUL in the text",
            "NUL in the user",
            "half a character in the text",
            "half a character in the user",
            "1.2 MB",
            "blank",
            "long user",
            "no text",
            "list for a text",
            "unknown field",
            "no time",
            "time to come",
        ],
    )
    def test_names_the_field_and_lets_the_next_good_turn_through(
        self, pipeline: Pipeline, changed: dict[str, Any], field: str
    ) -> None:
        client = pipeline.client()
        # With surrogates and NUL as JSON escapes, as a careless client sends them.
        answer = client.post_raw(json.dumps(_turn(**changed)).encode())
        assert answer.status in (413, 422), answer
        assert any(field in error["field"] for error in answer.body["errors"]), answer
        good = _turn(turn_id=f"turnquappe-{next(_numbers)}")
        listed = client.post_raw(json.dumps({"turns": [_turn(**changed), good]}).encode())
        assert listed.status == 202, listed
        refused, accepted = listed.body["results"]
        assert (refused["status"], accepted["status"]) == ("refused", "accepted")
        assert field in refused["error"]["field"]

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"not json",
            b'{"user_text": "\xff\xfe"}',
            b"[" * 100_000,
            b'{"turns": []}',
            b"\xef\xbb\xbf{}",
            b"null",
            b'{"user_text": "cut off',
        ],
        ids=[
            "nothing",
            "no JSON",
            "no UTF-8",
            "too deep",
            "an empty list",
            "a byte order mark",
            "null",
            "cut off",
        ],
    )
    def test_is_refused_where_it_is_no_turn_at_all(self, pipeline: Pipeline, body: bytes) -> None:
        answer = pipeline.client().post_raw(body)
        assert answer.status in (400, 413, 422), answer
        assert answer.body["detail"], answer

    def test_was_not_worked_on_but_what_was_good_beside_it_was(self, pipeline: Pipeline) -> None:
        pipeline.wait_settled()
        totals = pipeline.audit()["totals"]
        assert (totals["unaccounted"], totals["in_flight"]) == (0, 0)
        assert totals["closings"]["dead_lettered"] == len(HOSTILE)


class TestALongTurn:
    def test_is_kept_whole(self, pipeline: Pipeline) -> None:
        client = pipeline.client()
        text = f"{WORD} begins. " + "And it goes on. " * 24_000 + f" {WORD} ends."
        answer = client.post(_turn(turn_id="turnquappe-long", user_text=text))
        assert answer.status == 202, answer
        pipeline.wait_settled()
        turn = client.accepted[USER, "turnquappe-long"]
        rows = pipeline.rows("SELECT content FROM memories WHERE turn_id = %s", (turn.turn_id,))
        assert rows == [(text,)]


class TestTheClear:
    @pytest.mark.lasting_broker(reason="the files of the broker's log are searched")
    def test_holds_no_word_and_no_id_of_a_user(self, pipeline: Pipeline) -> None:
        client = pipeline.client()
        client.post_lists([_turn(turn_id=f"turnquappe-said-{n}") for n in range(20)])
        pipeline.wait_settled()
        _ask_for_what_was_said(client)
        home = pipeline.home
        files = [
            path
            for directory in (home.broker, home.logs)
            for path in directory.rglob("*")
            if path.is_file()
        ]
        files += home.postgres.glob("*.log")
        assert {path.name for path in files} >= {"gateway.log", "worker-1.log", "projector.log"}
        assert {"postgres.log", "broker.log"} <= {path.name for path in files}
        found = {path: marks for path in files if (marks := _marks_in(path.read_bytes()))}
        assert not found
        keyring = KeyringSite(url=pipeline.addresses.keyring_url, keys=pipeline.settings.keys_home)
        assert not [value for value in every_value(keyring) if _marks_in(value)]
        assert _finds(files, HostileProducer.garbage), "this search finds nothing at all"


def _ask_for_what_was_said(client: ChatClient) -> None:
    headers = {"Authorization": f"Bearer {client.api_key}"}
    with httpx.Client(base_url=client.url, headers=headers, timeout=30.0) as http:
        listed = http.get("/v1/memories", params={"user_id": USER})
        assert WORD in listed.text
        asked = {"user_id": USER, "query": f"what of {WORD}?", "min_similarity": -1}
        assert WORD in http.post("/v1/recall", json=asked).text
        assert http.post("/v1/recall", json=asked | {"as_of": WORD}).is_client_error


def _marks_in(data: bytes) -> list[str]:
    # The broker's indices are made with room for what may come: zeros, most of them.
    lowered = data.rstrip(b"\0").lower()
    return [
        mark
        for mark in MARKS
        for encoding in ("utf-8", "utf-16-le", "unicode_escape")
        if mark.lower().encode(encoding) in lowered
    ]


def _finds(files: list[Path], text: str) -> bool:
    return any(text.encode() in path.read_bytes() for path in files)
