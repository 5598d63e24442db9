"""Names and versions of schemas: how a record becomes bytes, and old bytes today's record.

A schema is known by its name and number. To change a shape: add the new model under the next
number, keep an upcaster from the old number (a function from the old JSON object to the new one),
regenerate the JSON Schemas and add a golden log of the new version under ``tests/histories``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from schemas.commands import ConsolidationStart, Curation, SessionEnd
from schemas.errors import RecordInvalid, UnknownSchema
from schemas.files import FileCommand
from schemas.memory import Record
from schemas.proposals import Proposal
from schemas.recalls import ServedRecall
from schemas.records import DeadLetter, Outcome, Turn

JsonObject = dict[str, Any]
Upcaster = Callable[[JsonObject], JsonObject]
RecordType = TypeVar("RecordType", bound=Record)


@dataclass(frozen=True, kw_only=True, slots=True)
class Schema:
    """One kind of record.

    Attributes:
        name: the name in a record's header.
        version: the number that is written today.
        model: today's model.
        upcasters: by old number, the function that lifts an object of it to the next number.
    """

    name: str
    version: int
    model: type[Record]
    upcasters: Mapping[int, Upcaster]


def _as_it_is(payload: JsonObject) -> JsonObject:
    """Lift a payload to a version that only added fields, each with a default that fits."""
    return payload


def _outcome_2(payload: JsonObject) -> JsonObject:
    """Lift the confirmations of an outcome: those of version 1 left the expiry as it was."""
    for event in payload["events"]:
        if event["event"] == "memory-confirmed":
            event["version"] = 2
    return payload


SCHEMAS: Final[tuple[Schema, ...]] = (
    Schema(name="turn", version=1, model=Turn, upcasters={}),
    Schema(name="curation", version=2, model=Curation, upcasters={1: _as_it_is}),
    Schema(name="session-end", version=2, model=SessionEnd, upcasters={1: _as_it_is}),
    Schema(name="consolidation", version=1, model=ConsolidationStart, upcasters={}),
    Schema(name="proposal", version=3, model=Proposal, upcasters={1: _as_it_is, 2: _as_it_is}),
    Schema(
        name="outcome",
        version=5,
        model=Outcome,
        upcasters={1: _outcome_2, 2: _as_it_is, 3: _as_it_is, 4: _as_it_is},
    ),
    Schema(name="file-command", version=1, model=FileCommand, upcasters={}),
    Schema(name="recall", version=1, model=ServedRecall, upcasters={}),
    Schema(name="dead-letter", version=1, model=DeadLetter, upcasters={}),
)

_BY_NAME: Final = {schema.name: schema for schema in SCHEMAS}
_BY_MODEL: Final = {schema.model: schema for schema in SCHEMAS}


def schema_of(model: type[Record]) -> Schema:
    """Return the schema that a record type is written under.

    Raises:
        UnknownSchema: the type is not a record of the log.
    """
    try:
        return _BY_MODEL[model]
    except KeyError:
        raise UnknownSchema(f"{model.__name__} is not a record of the log") from None


def encode(record: Record) -> bytes:
    """Return the payload of a record: UTF-8 JSON."""
    # Nulls are written out: a field may be required and null, and would be missed on reading.
    return record.model_dump_json().encode()


def decode(expected: type[RecordType], name: str, version: int, payload: bytes) -> RecordType:
    """Read a payload of any version that ever landed as today's record.

    Args:
        expected: the record type that the caller can handle.
        name: the schema's name, from the record's header.
        version: the schema's number, from the record's header.
        payload: what :func:`encode` gave.

    Raises:
        UnknownSchema: the name is not that of ``expected``, or the version is not known here.
        RecordInvalid: the payload does not fit; the message names the fields, never their values.
    """
    schema = _BY_NAME.get(name)
    if schema is None or schema.model is not expected:
        raise UnknownSchema(f"schema {name!r} is not a {expected.__name__}")
    if not 1 <= version <= schema.version:
        raise UnknownSchema(
            f"schema {name!r} has version {version}, this program knows 1 to {schema.version}: "
            "upgrade it before it reads this log"
        )
    try:
        if version == schema.version:
            return expected.model_validate_json(payload)
        return expected.model_validate_json(_upcast(schema, version, payload))
    except ValidationError as error:
        raise RecordInvalid(f"{name} version {version}: {_fields_of(error)}") from None


def _upcast(schema: Schema, version: int, payload: bytes) -> bytes:
    try:
        lifted: JsonObject = json.loads(payload)
    except ValueError:
        raise RecordInvalid(f"{schema.name} version {version}: not JSON") from None
    for number in range(version, schema.version):
        lifted = schema.upcasters[number](lifted)
    return json.dumps(lifted, ensure_ascii=False).encode()


def _fields_of(error: ValidationError) -> str:
    # Values stay out of the message: they are a user's words.
    return "; ".join(
        f"{'.'.join(str(part) for part in detail['loc']) or 'payload'}: {detail['type']}"
        for detail in error.errors(include_input=False, include_url=False, include_context=False)
    )
