"""What docs/input.md says of odd input is what becomes of it, at every door, on real stores."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from deploy.embedded import EmbeddedPostgres
from schemas.commands import Curation, SessionEnd
from schemas.http import MEDIA_TYPE
from schemas.partitioning import partition_for
from schemas.records import Turn
from schemas.settings import DEFAULT_TENANT
from schemas.tree import address_for
from tests import conftest
from tests.conftest import GENERATION, PARTITIONS, TestStores, recreate_topics
from tests.integration.edges.scene import HEADINGS, OTHER_TENANT, Kept, Scene, play
from tests.support import edges
from tests.support.edges import Answer, CommandRow, RequestRow, TurnRow

fresh_database = contextmanager(conftest._fresh_database)


@pytest.fixture(scope="module")
def scene(
    postgres: EmbeddedPostgres, kafka_bootstrap: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Scene]:
    recreate_topics(kafka_bootstrap)
    directory = tmp_path_factory.mktemp("edges")
    with fresh_database(postgres) as database_url, fresh_database(postgres) as keyring_url:
        stores = TestStores(
            database_url=database_url,
            keyring_url=keyring_url,
            kafka_bootstrap=kafka_bootstrap,
            key_directory=directory / "keys",
            generation=GENERATION,
            partitions=PARTITIONS,
        )
        yield play(stores, directory)


def _turn_rows(door: str) -> list[Any]:
    return [pytest.param(row, id=row.case) for row in edges.turn_rows() if door in row.doors]


def _request_rows() -> list[Any]:
    return [
        pytest.param(heading, row, id=f"{heading}: {row.case}")
        for heading in HEADINGS
        for row in edges.request_rows(heading)
    ]


@pytest.mark.parametrize("row", _turn_rows("turn"))
def test_a_turn_alone(scene: Scene, row: TurnRow) -> None:
    response = scene.alone[row.case]
    _assert_answered(response, row.answer)
    if row.answer.accepted:
        _assert_kept(row, scene.kept[response.json()["position"]])
    else:
        assert row.kept == "nothing"


@pytest.mark.parametrize("row", _turn_rows("list"))
def test_a_turn_between_two_good_ones(scene: Scene, row: TurnRow) -> None:
    response = scene.listed[row.case]
    assert response.status_code == 202
    before, result, behind = response.json()["results"]
    for neighbour in (before, behind):
        assert neighbour["status"] == "accepted"
        assert scene.kept[neighbour["position"]].turn.user_text == "hello"
    if row.answer.accepted:
        assert result["status"] == "accepted"
        _assert_kept(row, scene.kept[result["position"]])
    else:
        assert result["status"] == "refused"
        error = result["error"]
        assert (error["code"], error["field"]) == (row.answer.code, row.answer.field)
        assert error["problem"]
        assert error["remedy"]


@pytest.mark.parametrize("row", _turn_rows("import"))
def test_a_line_between_two_good_ones(scene: Scene, row: TurnRow) -> None:
    place = f"line {scene.lines[row.case]}"
    told = [*scene.imported["refused_turns"], *scene.imported["unreadable"]]
    reasons = [item["reason"] for item in told if item["place"] == place]
    if row.answer.accepted:
        assert reasons == []
    else:
        (reason,) = reasons
        if row.answer.said is None:
            assert reason.startswith(f"{row.answer.field}: ")
            assert "; " in reason, "no remedy"
        else:
            assert row.answer.said in reason


def test_every_other_line_was_imported(scene: Scene) -> None:
    rows = [row for row in edges.turn_rows() if "import" in row.doors]
    refused = [row for row in rows if row.kept == "nothing"]
    assert scene.imported["accepted"] == 2 * len(rows) - len(refused) + 1 + 2
    assert scene.imported["refused"] + len(scene.imported["unreadable"]) == len(refused)
    assert scene.imported["status"] == 1


@pytest.mark.parametrize(("heading", "row"), _request_rows())
def test_a_request(scene: Scene, heading: str, row: RequestRow) -> None:
    _assert_answered(scene.answered[heading, row.case], row.answer)
    assert scene.kept_of[heading, row.case] == row.kept


@pytest.mark.parametrize("row", [pytest.param(row, id=row.case) for row in edges.command_rows()])
def test_a_command(scene: Scene, row: CommandRow) -> None:
    ran = scene.ran[row.case]
    assert ran.status == row.status, ran.errors
    if row.named is not None:
        assert row.named in ran.errors
        assert ran.output == ""
    assert "Traceback" not in ran.errors


def test_records_that_nobody_should_have_written_are_accounted_for(scene: Scene) -> None:
    rows = edges.record_rows()
    totals = scene.audit["totals"]
    assert scene.audit["passed"], scene.audit
    assert scene.audit["status"] == 0
    assert totals["in_flight"] == totals["unaccounted"] == 0
    dead = [row for row in rows if row.counted == "dead_lettered"]
    assert totals["closings"]["dead_lettered"] == len(dead)
    (tombstones,) = (row for row in rows if row.counted == "tombstones")
    assert tombstones.record == "tombstones"
    assert totals["turn_tombstones"] == 2
    # What else was appended is a turn that somebody was told of, or a line that was imported.
    found = len(scene.kept) + len(scene.entered)
    assert found == totals["turns"] - len(dead) + totals["duplicate_turns"] + 1


def test_what_is_no_turn_stands_in_its_subjects_line_under_its_id(scene: Scene) -> None:
    """What was answered with 202 is sealed for its subject, in the subject's partition."""
    heading = "Facts, decisions and ends"
    answered = {
        case: response.json()
        for (of, case), response in scene.answered.items()
        if of == heading and response.status_code == 202
    }
    assert len(answered) == 9
    for case, answer in answered.items():
        if case == "the end of a user nobody heard of":
            assert answer == {"turn_id": None, "position": None}
            continue
        entered = scene.entered[answer["position"]]
        header = entered.read.header()
        assert str(header.record_id) == answer["turn_id"] == str(entered.record.turn_id), case
        assert header.subject == entered.keys.subject
        assert entered.read.position.partition == partition_for(header.subject, PARTITIONS)
        assert header.address == address_for(entered.record.occurred_at, header.record_id)
        assert isinstance(entered.record, SessionEnd if case.startswith("the end") else Curation), (
            case
        )
    first, again = answered["a fact with everything"], answered["the same fact again"]
    assert first["turn_id"] == again["turn_id"]
    assert first["position"] != again["position"]
    assert answered["the end of a conversation"] != answered["the end again"]


def test_two_tenants_who_send_the_same_have_a_record_each(scene: Scene) -> None:
    answers = {tenant: answer.json() for tenant, answer in scene.of_tenants.items()}
    assert {answer.status_code for answer in scene.of_tenants.values()} == {202}
    entered = {tenant: scene.entered[answer["position"]] for tenant, answer in answers.items()}
    assert {tenant: one.keys.tenant for tenant, one in entered.items()} == {
        tenant: tenant for tenant in (DEFAULT_TENANT, OTHER_TENANT)
    }
    assert len({answer["turn_id"] for answer in answers.values()}) == 2
    assert len({one.keys.subject for one in entered.values()}) == 2


def test_both_spellings_are_one_user_through_every_door(scene: Scene) -> None:
    assert len(scene.same_user) == 6
    said = {json.dumps(contents) for contents in scene.same_user.values()}
    assert len(said) == 1
    assert len(json.loads(said.pop())) == 4


def test_stores_without_their_tables_are_not_ready_and_nothing_is_answered_as_empty(
    scene: Scene,
) -> None:
    for lost, statuses in (
        ("nothing", (200, 200, 202)),
        ("read model", (503, 503, 202)),
        ("keyring", (503, 503, 503)),
    ):
        ready, recalled, _ = answers = scene.ready[lost]
        assert tuple(answer.status_code for answer in answers) == statuses, (lost, recalled.text)
        if lost != "nothing":
            assert lost in ready.json()["reason"]
            assert recalled.json()["code"] in {"read_model_unavailable", "migration_error"}
    assert scene.ready["keyring"][-1].json()["code"] == "migration_error"


def _assert_answered(response: httpx.Response, answer: Answer) -> None:
    assert response.status_code == answer.status, response.text[:500]
    if answer.accepted:
        assert answer.code is None
        return
    assert response.headers["content-type"] == MEDIA_TYPE
    body = response.json()
    assert body["code"] == answer.code
    assert body["detail"]
    named = [error["field"] for error in body.get("errors", [])]
    assert named == ([] if answer.field is None else [answer.field])
    assert all(error["problem"] and error["remedy"] for error in body.get("errors", []))


def _assert_kept(row: TurnRow, kept: Kept) -> None:
    """The log holds what was sent, in normal form C where the row says so."""
    for name, sent in row.fields().items():
        found = kept.user_id if name == "user_id" else _field(kept.turn, name)
        if name == "turn_id":
            continue  # the log's own id follows from it
        if name == "occurred_at":
            assert isinstance(sent, str)
            moment = datetime.fromisoformat(sent.upper())
            assert found == moment.astimezone(UTC)
            offset = moment.utcoffset()
            assert offset is not None
            assert kept.turn.utc_offset_minutes * 60 == offset.total_seconds()
        elif row.kept == "in normal form C":
            assert isinstance(sent, str)
            assert found == unicodedata.normalize("NFC", sent) != sent
        else:
            assert row.kept == "as sent"
            assert found == sent


def _field(turn: Turn, name: str) -> object:
    value = getattr(turn, name)
    return str(value) if name == "recall_id" else value
