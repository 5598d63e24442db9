"""The topics of the ledger and their settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from schemas.errors import ConfigurationError

TURNS: Final = "memledger.turns"
FILES: Final = "memledger.files"
RECALLS: Final = "memledger.recalls"
DEAD_LETTERS: Final = "memledger.dead-letters"

RECORD_BYTES_MAX: Final = 4 * 1024 * 1024
"""The largest record that a topic takes: a turn at its limit with all its text escaped fits."""

BROKERS_REPLICATION: Final = -1
"""Leaves the number of replicas to the broker's ``default.replication.factor`` (KIP-464)."""

_MEMORIES: Final = "memledger.memories."

_HOUR_MS: Final = 3_600_000
_DAY_MS: Final = 24 * _HOUR_MS
_GENERATION: Final = re.compile(r"[a-z0-9][a-z0-9_]{0,30}")

LEDGER_SETTINGS: Final[Mapping[str, str]] = {
    # Nothing ages out: a replay reads from the start. Keys are unique to an append, so compaction
    # removes only what a tombstone names.
    "cleanup.policy": "compact",
    "min.cleanable.dirty.ratio": "0.5",
    "max.compaction.lag.ms": str(7 * _DAY_MS),
    # A quiet partition rolls its segment by time too: the active one is never compacted.
    "segment.ms": str(_DAY_MS),
    "segment.bytes": str(256 * 1024 * 1024),
    # A reader that is offline for a week still sees every tombstone.
    "delete.retention.ms": str(7 * _DAY_MS),
    # The broker's clock stamps each record: time in one partition never runs backwards.
    "message.timestamp.type": "LogAppendTime",
    "max.message.bytes": str(RECORD_BYTES_MAX),
}


RECALLS_DAYS: Final = 90
"""For how many days it is kept what was served, where nothing else is set."""


def recalls_settings(days: int) -> Mapping[str, str]:
    """Return the settings of the topic of what was served, which alone ages out."""
    aging = {"cleanup.policy": "compact,delete", "retention.ms": str(days * _DAY_MS)}
    return {**LEDGER_SETTINGS, **aging}


@dataclass(frozen=True, kw_only=True, slots=True)
class Topic:
    """One topic.

    Attributes:
        name: its name.
        partitions: fixed when it is made; the same for every topic of a subject's data.
        settings: topic-level configuration.
    """

    name: str
    partitions: int
    settings: Mapping[str, str]


def generations_among(topics: Iterable[str]) -> list[str]:
    """Return the generations whose outcomes have a topic among these, in order of their names."""
    return sorted(name.removeprefix(_MEMORIES) for name in topics if name.startswith(_MEMORIES))


def proposals_topic(generation: str) -> str:
    """Return the topic of a generation's proposals."""
    return f"memledger.proposals.{checked_generation(generation)}"


def memories_topic(generation: str) -> str:
    """Return the topic of a generation's outcomes."""
    return f"{_MEMORIES}{checked_generation(generation)}"


def checked_generation(generation: str) -> str:
    """Return ``generation`` if it can name topics, a consumer group and a database schema.

    Raises:
        ConfigurationError: it is not 1 to 31 of ``a-z 0-9 _``, beginning with a letter or digit.
    """
    if not _GENERATION.fullmatch(generation):
        raise ConfigurationError(
            f"generation {generation!r}: use 1 to 31 of a-z, 0-9 and _, not beginning with _"
        )
    return generation


def ledger_topics(
    generation: str, partitions: int, *, recalls_days: int = RECALLS_DAYS
) -> tuple[Topic, ...]:
    """Return every topic that a pipeline of one generation needs.

    Args:
        generation: the generation.
        partitions: number of partitions of each topic.
        recalls_days: for how many days it is kept what was served.
    """
    names = (TURNS, FILES, proposals_topic(generation), memories_topic(generation), DEAD_LETTERS)
    ledger = tuple(
        Topic(name=name, partitions=partitions, settings=LEDGER_SETTINGS) for name in names
    )
    served = Topic(name=RECALLS, partitions=partitions, settings=recalls_settings(recalls_days))
    return (*ledger, served)
