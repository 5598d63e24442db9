"""Turns are appended in order, answered once each, and follow a user whose subject was erased."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import REGISTRY

from producers.append import TurnAppender
from producers.subject_records import ROUNDS_MAX, Appended, AppendResult, Refused
from producers.turns_input import TURNS_MAX, TurnInput
from schemas.errors import InputTooLarge, InvalidInput, KeyringUnavailable, LogBusy, LogUnavailable
from schemas.keyring import SubjectKeys
from schemas.partitioning import partition_for
from schemas.records import Origin
from schemas.tree import address_for
from tests.unit.producers.fakes import NOW, InMemoryKeyring, InMemoryLog

PARTITIONS = 4
TENANT = "acme"


class Bench:
    """An appender over an in-memory keyring and log."""

    def __init__(self) -> None:
        self.keyring = InMemoryKeyring()
        self.log = InMemoryLog()
        self.appender = TurnAppender(self.keyring, self.log, PARTITIONS, clock=lambda: NOW)

    def append(self, *turns: TurnInput) -> list[AppendResult]:
        return asyncio.run(self.appender.append(TENANT, turns, Origin.HTTP))

    def keys(self, user: str) -> SubjectKeys:
        return self.keyring.keys_of(TENANT, user)

    def said(self, user: str) -> list[str]:
        return [turn.user_text for turn in self.log.turns_of(self.keys(user))]


def turn(user: str = "u", said: str = "hello", **fields: Any) -> TurnInput:
    return TurnInput(user_id=user, conversation_id="c", user_text=said, **fields)


def appended(results: Sequence[AppendResult]) -> list[Appended]:
    assert all(isinstance(result, Appended) for result in results), results
    return [result for result in results if isinstance(result, Appended)]


def error_of(result: AppendResult) -> Exception:
    assert isinstance(result, Refused)
    return result.error


@given(st.lists(st.tuples(st.sampled_from("abcde"), st.integers(0, 999)), max_size=60))
def test_every_turn_is_answered_and_a_subjects_turns_keep_their_order(
    said: list[tuple[str, int]],
) -> None:
    bench = Bench()

    results = appended(bench.append(*(turn(user, str(number)) for user, number in said)))

    for user in "abcde":
        assert bench.said(user) == [str(number) for other, number in said if other == user]
    assert [result.partition for result in results] == [
        partition_for(bench.keys(user).subject, PARTITIONS) for user, _ in said
    ]
    assert len({result.position for result in results}) == len(said)


def test_a_record_holds_the_turn_and_lies_at_the_address_of_its_day() -> None:
    bench = Bench()
    moment = datetime(2024, 5, 6, 23, 30, tzinfo=UTC)

    (result,) = appended(
        bench.append(
            turn(assistant_text="hi", turn_id="t", occurred_at=moment, utc_offset_minutes=-60)
        )
    )

    (read,) = bench.log.turns_of(bench.keys("u"))
    assert (read.turn_id, read.user_text, read.assistant_text) == (result.turn_id, "hello", "hi")
    assert (read.occurred_at, read.utc_offset_minutes) == (moment, -60)
    assert (read.received_at, read.origin) == (NOW, Origin.HTTP)
    partition, offset, record = bench.log.records[0]
    assert result.position == f"{partition}:{offset}"
    assert record.key[:16] == result.turn_id.bytes
    address = address_for(moment, result.turn_id)
    assert address.to_bytes(8, "big") in record.headers[0][1]


def test_a_turn_without_a_time_was_said_now() -> None:
    bench = Bench()
    bench.append(turn())
    assert bench.log.turns_of(bench.keys("u"))[0].occurred_at == NOW


def test_the_clients_id_decides_the_records_id_within_the_user() -> None:
    bench = Bench()
    first, other_user, retried = (
        appended(bench.append(turn(user, turn_id="t")))[0].turn_id for user in ("u", "v", "u")
    )
    assert first == retried
    assert first != other_user


def test_without_an_id_of_the_client_each_append_is_another_turn() -> None:
    first, second = appended(Bench().append(turn(), turn()))
    assert first.turn_id != second.turn_id


def test_a_turn_twice_in_a_request_is_appended_once_and_answered_twice() -> None:
    bench = Bench()
    first, second = appended(bench.append(turn(turn_id="t"), turn(turn_id="t")))
    assert first == second
    assert bench.said("u") == ["hello"]


def test_one_id_for_two_contents_is_refused_for_the_later() -> None:
    bench = Bench()
    first, second = bench.append(turn(turn_id="t"), turn(turn_id="t", said="something else"))
    assert isinstance(first, Appended)
    assert isinstance(error_of(second), InvalidInput)
    assert "turn_id: is also that of turn 0" in str(error_of(second))
    assert bench.said("u") == ["hello"]


def test_users_may_use_the_same_turn_id() -> None:
    appended(Bench().append(turn("u", turn_id="t"), turn("v", turn_id="t", said="other")))


def test_a_user_erased_before_the_answer_is_appended_again_under_the_new_subject() -> None:
    bench = Bench()
    before = bench.keys("u")

    def erase_once() -> None:
        if not bench.keyring.erased:
            bench.keyring.erase(TENANT, "u")

    bench.keyring.before_erasure_query = erase_once

    results = appended(bench.append(turn("u", "one"), turn("v", "two"), turn("u", "three")))

    after = bench.keys("u")
    assert after.subject != before.subject
    assert bench.said("u") == ["one", "three"]
    assert bench.said("v") == ["two"]
    assert [result.turn_id for result in (results[0], results[2])] == [
        read.turn_id for read in bench.log.turns_of(after)
    ]
    assert results[0].partition == partition_for(after.subject, PARTITIONS)
    assert bench.keyring.erasure_queries[1] == {after.subject}


def test_erasures_are_asked_for_once_and_after_the_acknowledgements() -> None:
    bench = Bench()
    seen: list[int] = []
    bench.keyring.before_erasure_query = lambda: seen.append(len(bench.log.records))
    bench.append(*(turn(user) for user in "abc"))
    assert seen == [3]


def test_a_user_who_is_erased_without_end_is_not_answered_as_accepted() -> None:
    bench = Bench()
    bench.keyring.before_erasure_query = lambda: bench.keyring.erase(TENANT, "u")
    with pytest.raises(KeyringUnavailable, match=f"erased {ROUNDS_MAX} times"):
        bench.append(turn())


def test_a_busy_log_refuses_the_rest_of_a_subject_and_nobody_else() -> None:
    bench = Bench()
    bench.log.refuse = lambda number: LogBusy("full") if number == 1 else None

    results = bench.append(*(turn(user, "hello") for user in "ababc"))

    assert [isinstance(result, Appended) for result in results] == [True, False, True, False, True]
    assert isinstance(error_of(results[3]), LogBusy)
    assert bench.said("b") == []


def test_a_failed_acknowledgement_is_told_for_its_turn_alone() -> None:
    bench = Bench()
    bench.log.fail = lambda number: LogUnavailable("no answer") if number == 1 else None

    results = bench.append(turn("a"), turn("b"), turn("c"))

    assert [isinstance(result, Appended) for result in results] == [True, False, True]
    assert isinstance(error_of(results[1]), LogUnavailable)


def test_a_record_above_the_logs_limit_does_not_stop_its_subject() -> None:
    bench = Bench()
    too_large = InputTooLarge(field="record", problem="large", remedy="less")
    bench.log.refuse = lambda number: too_large if number == 0 else None
    results = bench.append(turn(said="1"), turn(said="2"))
    assert error_of(results[0]) is too_large
    assert isinstance(results[1], Appended)


def test_what_was_forgotten_cannot_come_back_under_its_id() -> None:
    bench = Bench()
    (result,) = appended(bench.append(turn(turn_id="t")))
    keys = bench.keys("u")
    bench.keyring.living[TENANT, "u"] = SubjectKeys(
        subject=keys.subject,
        tenant=TENANT,
        id_secret=keys.id_secret,
        seeds=keys.seeds.puncture(address_for(NOW, result.turn_id)),
    )

    again, other = bench.append(turn(turn_id="t"), turn(turn_id="t2"))

    assert "turn_id: names what was forgotten" in str(error_of(again))
    assert isinstance(other, Appended)


def test_more_turns_than_the_limit_are_refused_before_anything_is_appended() -> None:
    bench = Bench()
    with pytest.raises(InputTooLarge, match=f"holds {TURNS_MAX + 1} turns"):
        bench.append(*[turn()] * (TURNS_MAX + 1))
    assert bench.log.records == []


def test_nothing_to_append_is_answered_with_nothing() -> None:
    assert Bench().append() == []


def test_turns_can_be_identified_without_appending_them() -> None:
    bench = Bench()
    (identity,) = asyncio.run(bench.appender.identify(TENANT, [turn(turn_id="t")]))
    assert bench.log.records == []
    (result,) = appended(bench.append(turn(turn_id="t", occurred_at=NOW - timedelta(days=1))))
    assert identity.turn_id == result.turn_id
    assert identity.subject == bench.keys("u").subject


def accepted_count() -> float:
    return REGISTRY.get_sample_value("memledger_turns_accepted_total", {"origin": "http"}) or 0.0


def refused_count(error: str) -> float:
    labels = {"origin": "http", "error": error}
    return REGISTRY.get_sample_value("memledger_turns_refused_total", labels) or 0.0


def test_a_turn_twice_in_a_request_is_counted_once() -> None:
    accepted, refused = accepted_count(), refused_count("InvalidInput")
    Bench().append(turn(turn_id="t"), turn(turn_id="t"), turn(said="other", turn_id="t"), turn())
    assert accepted_count() - accepted == 2
    assert refused_count("InvalidInput") - refused == 1


def test_a_refused_turn_twice_in_a_request_is_counted_once() -> None:
    bench = Bench()
    bench.log.refuse = lambda _number: LogBusy("full")
    refused = refused_count("LogBusy")
    bench.append(turn(turn_id="t"), turn(turn_id="t"))
    assert refused_count("LogBusy") - refused == 1


def test_turns_that_the_keyring_could_not_be_asked_for_are_counted() -> None:
    bench = Bench()

    def fail() -> None:
        raise KeyringUnavailable("no answer")

    bench.keyring.before_erasure_query = fail
    accepted, refused = accepted_count(), refused_count("KeyringUnavailable")
    with pytest.raises(KeyringUnavailable):
        bench.append(turn(), turn("v"))
    assert accepted_count() == accepted
    assert refused_count("KeyringUnavailable") - refused == 2
