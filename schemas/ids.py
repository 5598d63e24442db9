"""Deterministic identifiers: what caused a record names it.

A record's id follows from its cause, so that a retry, a crash or a second worker gives the same id
and every reader can keep the append of the lowest offset. A record's *key* in Kafka is the id and a
random append nonce: compaction keeps the last record of a key, so equal keys would let a late
duplicate displace the record that counted.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final
from uuid import UUID, uuid4

APPEND_NONCE_BYTES: Final = 8
KEY_BYTES: Final = 16 + APPEND_NONCE_BYTES

_REMEMBERED: Final = 8192
"""Ids that are kept: one turn's are asked for several times, while few thousand are under way."""


def turn_id(id_secret: bytes, client_turn_id: str | None) -> UUID:
    """Return the id of a turn.

    Args:
        id_secret: the subject's 32-byte secret, so that ids of different subjects are unlinkable.
        client_turn_id: the client's own id of the turn, unique within the subject; ``None`` makes
            every append a new turn.
    """
    if client_turn_id is None:
        return uuid4()
    digest = hmac.digest(id_secret, b"turn\x00" + client_turn_id.encode(), hashlib.sha256)
    return UUID(bytes=digest[:16])


def system_fact_id(id_secret: bytes, system: str, client_id: str | None) -> UUID:
    """Return the id of a fact of one of the operator's systems.

    Args:
        id_secret: the subject's 32-byte secret.
        system: the system; each names its facts for itself.
        client_id: the system's own id of the fact; ``None`` makes every append a new fact.
    """
    if client_id is None:
        return uuid4()
    message = b"".join(_framed(b"system-fact", system.encode(), client_id.encode()))
    return UUID(bytes=hmac.digest(id_secret, message, hashlib.sha256)[:16])


def file_command_id(id_secret: bytes, client_id: str | None) -> UUID:
    """Return the id of a command on files.

    Args:
        id_secret: the subject's 32-byte secret.
        client_id: the client's own id of the command; ``None`` makes every append another command.
    """
    if client_id is None:
        return uuid4()
    message = b"".join(_framed(b"file-command", client_id.encode()))
    return UUID(bytes=hmac.digest(id_secret, message, hashlib.sha256)[:16])


def curation_id(
    id_secret: bytes, client_id: str | None, about: tuple[str, UUID] | None = None
) -> UUID:
    """Return the id of a person's decision about memories.

    What is decided, and about which memory, is part of it: else a deletion under the id that a
    correction had, or that of another memory, would count as that one again and be lost.

    Args:
        id_secret: the subject's 32-byte secret.
        client_id: the client's own id of the decision; ``None`` makes every append another one.
        about: of what kind the decision is, and the memory that it names; ``None`` for a statement,
            which names none.
    """
    if client_id is None:
        return uuid4()
    parts = [b"curation", client_id.encode()]
    if about is not None:
        kind, memory = about
        parts += [kind.encode(), memory.bytes]
    return UUID(bytes=hmac.digest(id_secret, b"".join(_framed(*parts)), hashlib.sha256)[:16])


@lru_cache(maxsize=_REMEMBERED)
def proposal_id(generation: str, turn: UUID) -> UUID:
    """Return the id of the proposal that a generation makes for a turn."""
    return _derived(b"proposal", generation.encode(), turn.bytes)


@lru_cache(maxsize=_REMEMBERED)
def outcome_id(generation: str, turn: UUID) -> UUID:
    """Return the id of the outcome that closes a turn in a generation."""
    return _derived(b"outcome", generation.encode(), turn.bytes)


def memory_id(outcome: UUID, index: int) -> UUID:
    """Return the id of the memory that the operation at ``index`` of an outcome brings forth."""
    return _derived(b"memory", outcome.bytes, index.to_bytes(4, "big"))


def flag_id(outcome: UUID, index: int) -> UUID:
    """Return the id of the flag on the operation at ``index`` of an outcome."""
    return _derived(b"flag", outcome.bytes, index.to_bytes(4, "big"))


def contradiction_flag_id(older: UUID, newer: UUID, last_said: datetime) -> UUID:
    """Return the id of the flag on two memories that cannot both hold.

    It follows from the two alone, so that one that is found again is the same flag, and a person is
    not asked twice.

    Args:
        older: the memory that would end.
        newer: the memory that speaks against it.
        last_said: when the older one was said last: said again, it is another question.
    """
    moment = last_said.astimezone(UTC).isoformat().encode()
    return _derived(b"contradiction", older.bytes, newer.bytes, moment)


def flag_decision_id(flag: UUID) -> UUID:
    """Return the id of the record by which a person decides a flag: the first decision counts."""
    return _derived(b"flag-decision", flag.bytes)


def session_end_id(subject: UUID, first: UUID, last: UUID, attempt: int) -> UUID:
    """Return the id of the end of a session that code found to be over.

    Args:
        subject: whose session it is.
        first: the first turn of it that waits.
        last: the last one: a turn that comes later makes it another end.
        attempt: tells ends of the same turns apart: one that settled nothing, since a budget was
            exhausted, is followed by another.
    """
    return _derived(b"session-end", subject.bytes, first.bytes, last.bytes, b"%d" % attempt)


def summary_end_id(subject: UUID, mark: UUID, attempt: int) -> UUID:
    """Return the id of the record that has a session's summary made again.

    Args:
        subject: whose session it is.
        mark: what made the summary due.
        attempt: tells records of the same cause apart: one that brought nothing is followed by
            another.
    """
    return _derived(b"summary-end", subject.bytes, mark.bytes, b"%d" % attempt)


def consolidation_id(subject: UUID, last_recorded: UUID, attempt: int = 0) -> UUID:
    """Return the id of the consolidation of a subject.

    Args:
        subject: whose memories it looks through.
        last_recorded: the newest of them: a newer one makes it another consolidation.
        attempt: how many before it came to nothing, since a budget was exhausted or no answer was
            of use.
    """
    again = (b"%d" % attempt,) if attempt else ()
    return _derived(b"consolidation", subject.bytes, last_recorded.bytes, *again)


def unreadable_turn_id(topic: str, partition: int, offset: int) -> UUID:
    """Return the id under which a record without a readable header is accounted for."""
    return _derived(b"unreadable", topic.encode(), b"%d" % partition, b"%d" % offset)


def dead_letter_id(topic: str, partition: int, offset: int, generation: str) -> UUID:
    """Return the id of the dead letter for the record at a position of the log."""
    return _derived(
        b"dead-letter", topic.encode(), b"%d" % partition, b"%d" % offset, generation.encode()
    )


def append_key(record_id: UUID) -> bytes:
    """Return a fresh Kafka key for one append of a record: its id and a random nonce."""
    return record_id.bytes + os.urandom(APPEND_NONCE_BYTES)


def record_id_of_key(key: bytes | None) -> UUID | None:
    """Return the record id that a Kafka key carries; ``None`` where it is not one of ours."""
    if key is None or len(key) != KEY_BYTES:
        return None
    return UUID(bytes=key[:16])


def _derived(*parts: bytes) -> UUID:
    framed = b"".join(_framed(*parts))
    return UUID(bytes=hashlib.blake2s(framed, digest_size=16, person=b"ml-id").digest())


def _framed(*parts: bytes) -> list[bytes]:
    # Each part is preceded by its length, so that no two different sequences hash the same bytes.
    return [piece for part in parts for piece in (len(part).to_bytes(4, "big"), part)]
