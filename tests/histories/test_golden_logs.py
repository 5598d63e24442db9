"""Today's code reads every log that was ever written, and it means what it meant."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, get_args

import pytest

from schemas import ids, registry
from schemas.commands import Curation, PersonCorrects, PersonDeletes
from schemas.errors import RecordInvalid, SealBroken, UnknownSchema
from schemas.events import MemoriesDeleted, MemoryCorrected, MemoryEvent
from schemas.keyring import SubjectKeys
from schemas.log.sealed import open_record
from schemas.partitioning import partition_for
from schemas.records import Closing, Outcome, Turn
from schemas.registry import SCHEMAS, Schema
from schemas.suppression import SuppressionKeying
from schemas.topics import TURNS
from schemas.tree import Punctured, address_for
from tests.histories.folding import fold_log, opened_records, payload_of, readable
from tests.histories.golden import (
    Fault,
    GoldenLog,
    PlainRecord,
    differences,
    golden_logs,
    read_log,
    write_log,
)
from tests.histories.record import main, record
from tests.histories.scenario import today

GOLDEN = golden_logs()
TODAY = {schema.name: schema.version for schema in SCHEMAS}

every_log = pytest.mark.parametrize("log", GOLDEN, ids=lambda log: log.name)


def versions_without_a_log(schemas: tuple[Schema, ...]) -> list[tuple[str, int]]:
    """Return the versions of records of which no golden log holds a readable one."""
    landed = {
        (plain.schema_name, plain.schema_version) for log in GOLDEN for plain, _ in readable(log)
    }
    return [
        (schema.name, version)
        for schema in schemas
        for version in range(1, schema.version + 1)
        if (schema.name, version) not in landed
    ]


def _payloads(name: str) -> Iterator[dict[str, Any]]:
    for log in GOLDEN:
        for plain, _ in readable(log):
            if plain.schema_name == name and plain.payload is not None:
                yield plain.payload


def _lifted(plain: PlainRecord) -> Any:
    """Return a recorded payload in the shape of today's version."""
    schema = next(schema for schema in SCHEMAS if schema.name == plain.schema_name)
    lifted = deepcopy(plain.payload)
    for version in range(plain.schema_version, schema.version):
        assert lifted is not None
        lifted = schema.upcasters[version](lifted)
    return lifted


@every_log
def test_every_record_opens_to_what_was_recorded(log: GoldenLog) -> None:
    opened = list(opened_records(log))

    assert opened
    for plain, found in opened:
        assert list(differences(_lifted(plain), payload_of(found))) == [], plain.note


@every_log
def test_a_record_of_todays_version_is_written_as_it_was(log: GoldenLog) -> None:
    for plain, found in opened_records(log):
        if plain.schema_version == TODAY[plain.schema_name]:
            assert json.loads(registry.encode(found)) == plain.payload, (
                f"{plain.schema_name} version {plain.schema_version} is written otherwise than it "
                "was: give the new shape the next version in schemas/registry.py, with an upcaster "
                "from this one, and record a golden log of it"
            )


@every_log
def test_the_log_means_what_it_meant(log: GoldenLog) -> None:
    assert list(differences(log.folded, fold_log(log))) == []


@every_log
def test_both_forms_of_a_log_are_the_same_records(log: GoldenLog) -> None:
    assert len(log.plain) == len(log.sealed)
    for plain, stored in zip(log.plain, log.sealed, strict=True):
        sealed = stored.record()
        assert (plain.position, plain.timestamp_ms) == (sealed.position, sealed.timestamp_ms)
        assert ids.record_id_of_key(sealed.key) == plain.record_id
        assert (sealed.value is None) == (plain.fault is Fault.TOMBSTONE)
        if plain.fault is not Fault.NO_HEADER:
            header = sealed.header()
            assert (header.subject, header.record_id) == (plain.subject, plain.record_id)
            assert header.address.to_bytes(8, "big") == plain.address
            assert (header.schema_name, header.schema_version) == (
                plain.schema_name,
                plain.schema_version,
            )


@every_log
def test_ids_addresses_and_partitions_are_derived_as_they_were(log: GoldenLog) -> None:
    states = log.keys.states()
    turns = [plain for plain in log.plain if plain.client_turn_id is not None and plain.payload]
    for plain in turns:
        keys = states[plain.subject]
        if isinstance(keys, SubjectKeys):
            assert ids.turn_id(keys.id_secret, plain.client_turn_id) == plain.record_id
        turn = Turn.model_validate_json(json.dumps(plain.payload))
        address = address_for(turn.occurred_at, plain.record_id)
        assert address.to_bytes(8, "big") == plain.address
        assert partition_for(plain.subject, log.keys.partitions) == plain.partition
    assert {plain.topic for plain in turns} == {TURNS}


@every_log
def test_what_cannot_be_read_is_what_was_recorded_so(log: GoldenLog) -> None:
    states = log.keys.states()
    read = {plain.position for plain, _ in readable(log)}
    for plain, stored in zip(log.plain, log.sealed, strict=True):
        keys = states[plain.subject]
        if plain.position not in read and isinstance(keys, SubjectKeys):
            model = next(schema.model for schema in SCHEMAS if schema.name == plain.schema_name)
            with pytest.raises((SealBroken, Punctured)):
                open_record(model, stored.record(), keys)


def test_what_was_deleted_is_found_under_the_keys_that_a_log_holds() -> None:
    found = 0
    for log in GOLDEN:
        opened = [record for _, record in opened_records(log)]
        decisions = {it.turn_id: it.decision for it in opened if isinstance(it, Curation)}
        for plain, outcome in opened_records(log):
            if not isinstance(outcome, Outcome):
                continue
            keys = log.keys.states()[plain.subject]
            assert isinstance(keys, SubjectKeys)
            for event in outcome.events:
                if isinstance(event, MemoriesDeleted | MemoryCorrected):
                    decided = decisions[outcome.turn_id]
                    assert isinstance(decided, PersonDeletes | PersonCorrects)
                    keying = SuppressionKeying.of_subject(keys.id_secret)
                    assert keying.suppression_keys(decided.memory) == set(event.suppresses), (
                        "keys that landed are not made any more: what was deleted comes back"
                    )
                    found += 1
    assert found


def test_every_version_that_landed_has_a_golden_log() -> None:
    assert versions_without_a_log(SCHEMAS) == [], (
        "bring tests/histories/scenario.py up to date and run "
        "`python -m tests.histories.record what_changed`"
    )


def test_every_event_and_every_way_to_close_is_in_a_golden_log() -> None:
    outcomes = list(_payloads("outcome"))
    events = {
        (event["event"], event["version"]) for outcome in outcomes for event in outcome["events"]
    }
    known = {
        (kind.model_fields["event"].default, kind.model_fields["version"].default)
        for kind in get_args(get_args(MemoryEvent)[0])
    }

    assert known - events == set()
    assert set(Closing) - {outcome["closing"] for outcome in outcomes} == set()


def test_golden_logs_hold_what_a_reader_must_cope_with() -> None:
    faults = {plain.fault for log in GOLDEN for plain in log.plain}
    folded = GOLDEN[0].folded

    assert faults == {None, *Fault}
    assert any(proposal["invalid"] for proposal in _payloads("proposal"))
    assert folded["doubled_outcomes"] > 0
    assert folded["erased_outcomes"]
    assert folded["poison"]
    assert any(memory["retracted_at"] for memory in folded["subjects"][0]["memories"])


def test_a_version_without_a_golden_log_is_missed() -> None:
    turn, *others = SCHEMAS
    newer = dataclasses.replace(turn, version=turn.version + 1)

    assert versions_without_a_log((newer, *others)) == [(turn.name, newer.version)]


def test_an_old_record_is_read_through_its_upcaster(monkeypatch: pytest.MonkeyPatch) -> None:
    class TurnOfTomorrow(Turn):
        channel: str

    def lifted(old: dict[str, Any]) -> dict[str, Any]:
        return {**old, "channel": f"was {old['origin']}"}

    log = GOLDEN[0]
    newer = Schema(name="turn", version=2, model=TurnOfTomorrow, upcasters={1: lifted})
    monkeypatch.setattr(registry, "_BY_NAME", {"turn": newer})
    turns = [
        (stored.record(), log.keys.states()[plain.subject])
        for plain, stored in readable(log)
        if (plain.schema_name, plain.schema_version) == ("turn", 1)
    ]

    assert turns
    for sealed, keys in turns:
        assert isinstance(keys, SubjectKeys)
        found = open_record(TurnOfTomorrow, sealed, keys)
        assert found.channel == f"was {found.origin.value}"
        with pytest.raises(UnknownSchema):
            open_record(Turn, sealed, keys)


def test_a_version_of_the_future_is_refused_and_not_guessed_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    payload = json.dumps(next(_payloads("turn"))).encode()

    with pytest.raises(UnknownSchema, match="knows 1 to"):
        registry.decode(Turn, "turn", TODAY["turn"] + 1, payload)
    broken = dataclasses.replace(SCHEMAS[0], version=2, upcasters={1: lambda _: {}})
    monkeypatch.setattr(registry, "_BY_NAME", {"turn": broken})
    with pytest.raises(RecordInvalid, match="turn_id: missing"):
        registry.decode(Turn, "turn", 1, payload)


def test_what_is_recorded_today_is_read_back_the_same(tmp_path: Path) -> None:
    log = read_log(record("a_check", tmp_path))

    assert log.name == "0001_a_check"
    assert {(plain.schema_name, plain.schema_version) for plain in log.plain} == set(TODAY.items())
    assert list(differences(today("other").folded, fold_log(log))) == []
    assert len(list(opened_records(log))) > len(TODAY)


def test_a_golden_log_is_never_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = record("a_check", tmp_path)
    text = (first / "sealed.jsonl").read_text()

    with pytest.raises(ValueError, match="never changes"):
        record("a_check", tmp_path)
    with pytest.raises(FileExistsError):
        write_log(first, today("0001_a_check"))
    assert record("another", tmp_path).name == "0002_another"
    assert (first / "sealed.jsonl").read_text() == text
    assert main(["../elsewhere"]) == 2
    assert "is no name for a log" in capsys.readouterr().err


def test_a_difference_is_found_wherever_it_is() -> None:
    recorded = {"a": [1, {"b": None}], "c": "text"}

    assert list(differences(recorded, {**recorded, "new": 1})) == []
    assert list(differences(recorded, {"a": [1, {"b": 0}], "c": "text"})) == [
        "/a/1/b: is 0, was None"
    ]
    assert list(differences(recorded, {"a": [1], "c": "text"})) == ["/a: has 1 entries, had 2"]
    assert list(differences(recorded, {"a": [1, {"b": None}]})) == ["/c: is missing, was 'text'"]
    assert list(differences({"a": 1}, {"a": True})) == ["/a: is True, was 1"]
