"""Making the broker compact a topic now, and doing to a user's records what an eraser does."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

from confluent_kafka import Producer
from confluent_kafka.admin import (  # type: ignore[attr-defined] # it re-exports without saying so
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    ResourceType,
)

from schemas.errors import SealBroken
from schemas.log.sealed import LogRecord
from tests.support.pipeline_site import PipelineSite
from tests.support.waiting import wait_until

_TIMEOUT_S: Final = 30.0

AT_ONCE: Final[Mapping[str, str]] = {
    "segment.ms": "200",
    "min.cleanable.dirty.ratio": "0.001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "200",
    "delete.retention.ms": "0",
    "file.delete.delay.ms": "100",
}
"""Settings of a topic under which the cleaner has something to do all the time."""


_BROKER: Final = "1"
_CLEANER: Final[Mapping[str, str]] = {"log.cleaner.backoff.ms": "200"}
"""How long the broker's cleaner rests when it found nothing to do; 15 seconds by default."""


def compact_at_once(bootstrap: str, topics: Iterable[str]) -> None:
    """Let the cleaner of the broker work on topics without waiting for anything."""
    resources = [
        _resource(ResourceType.BROKER, _BROKER, _CLEANER),
        *(_resource(ResourceType.TOPIC, topic, AT_ONCE) for topic in topics),
    ]
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    for future in admin.incremental_alter_configs(resources).values():
        future.result(_TIMEOUT_S)


def _resource(kind: ResourceType, name: str, settings: Mapping[str, str]) -> ConfigResource:
    return ConfigResource(
        kind,
        name,
        incremental_configs=[
            ConfigEntry(setting, value, incremental_operation=AlterConfigOpType.SET)
            for setting, value in settings.items()
        ],
    )


def of_subject(records: Iterable[LogRecord], subject: UUID) -> list[LogRecord]:
    """Return the records that a subject's keys seal."""
    return [
        record for record in records if record.value is not None and _subject_of(record) == subject
    ]


def bury(bootstrap: str, records: Iterable[LogRecord]) -> None:
    """Append a tombstone for each of some records."""
    producer = Producer({"bootstrap.servers": bootstrap, "log_level": 3})
    for record in records:
        at = record.position
        headers = list(record.headers)
        producer.produce(at.topic, None, record.key, partition=at.partition, headers=headers)  # type: ignore[arg-type] # the stubs know no list of pairs with bytes
    assert producer.flush(_TIMEOUT_S) == 0


def wait_until_gone(site: PipelineSite, records: Iterable[LogRecord]) -> None:
    """Return once the offsets of some records are gone from the log.

    A segment is closed by the record after it, so each partition is given one more tombstone,
    of nothing, whenever it is looked at.
    """
    wanted: dict[str, set[tuple[int, int]]] = {}
    for record in records:
        at = record.position
        wanted.setdefault(at.topic, set()).add((at.partition, at.offset))

    def gone() -> bool:
        for topic, places in wanted.items():
            _roll(site, topic)
            there = {(one.position.partition, one.position.offset) for one in site.records(topic)}
            if there & places:
                return False
        return True

    wait_until(gone, what=f"the cleaner to have cleaned {list(wanted)}", timeout_s=90.0, poll_s=1.0)


def _roll(site: PipelineSite, topic: str) -> None:
    producer = Producer({"bootstrap.servers": site.bootstrap, "log_level": 3})
    for partition in range(site.settings.partitions):
        producer.produce(topic, None, b"filler", partition=partition)
    assert producer.flush(_TIMEOUT_S) == 0


def _subject_of(record: LogRecord) -> UUID | None:
    try:
        return record.header().subject
    except SealBroken:
        return None
