"""Making the topics, and refusing ones that do not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, wait
from typing import Final, TypeVar

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import (  # type: ignore[attr-defined] # ConfigResource is public
    AdminClient,
    ConfigResource,
)
from confluent_kafka.cimpl import NewTopic

from schemas.errors import ConfigurationError, LogUnavailable
from schemas.topics import Topic

_TIMEOUT_S: Final = 30.0

_KEPT: Final = ("cleanup.policy", "message.timestamp.type", "max.message.bytes")
"""What a topic that exists must have like one that is made now: the first keeps records from ageing
out, the second keeps the time of a partition from running backwards, the third takes every record.
The others are about space and speed, and the operator's to choose."""

_MINIMA: Final = frozenset({"max.message.bytes"})

Asked = TypeVar("Asked")
Answer = TypeVar("Answer")


async def ensure_topics(bootstrap: str, topics: Sequence[Topic], *, replication: int) -> None:
    """Make the topics that are missing; refuse those that are there and would lose records.

    Args:
        bootstrap: ``host:port[,host:port]``.
        topics: what the ledger needs.
        replication: how many brokers hold each partition of a topic that is made now;
            ``schemas.topics.BROKERS_REPLICATION`` leaves it to the broker.

    Raises:
        ConfigurationError: a topic has another number of partitions than the ledger was made with,
            or a setting of :data:`_KEPT` with which records would age out, lose their order in time
            or be refused.
        LogUnavailable: the broker did not answer.
    """
    await asyncio.to_thread(_ensure_topics, bootstrap, topics, replication)


def partition_count(bootstrap: str, topic: str, *, timeout_s: float = _TIMEOUT_S) -> int | None:
    """Return how many partitions a topic has, or ``None`` where it does not exist.

    Raises:
        LogUnavailable: the broker did not answer.
    """
    admin = _client(bootstrap)
    return _existing(admin, bootstrap, timeout_s).get(topic)


def topic_names(bootstrap: str, *, timeout_s: float = _TIMEOUT_S) -> frozenset[str]:
    """Return the names of every topic.

    Raises:
        LogUnavailable: the broker did not answer.
    """
    admin = _client(bootstrap)
    return frozenset(_existing(admin, bootstrap, timeout_s))


def _ensure_topics(bootstrap: str, topics: Sequence[Topic], replication: int) -> None:
    admin = _client(bootstrap)
    existing = _existing(admin, bootstrap, _TIMEOUT_S)
    _check_partitions(topics, existing)
    missing = [topic for topic in topics if topic.name not in existing]
    made = _create(admin, missing, replication)
    others = [topic for topic in topics if topic.name not in made]
    if len(made) < len(missing):
        # Somebody made them meanwhile, perhaps with other numbers.
        _check_partitions(others, _existing(admin, bootstrap, _TIMEOUT_S))
    _check_settings(admin, others, bootstrap)


def _check_partitions(topics: Sequence[Topic], existing: Mapping[str, int]) -> None:
    for topic in topics:
        found = existing.get(topic.name)
        if found not in (None, topic.partitions):
            raise ConfigurationError(
                f"topic {topic.name} has {found} partitions, MEMLEDGER_PARTITIONS is "
                f"{topic.partitions}: the number is fixed when "
                f"the topics are made, set it to {found}"
            )


def _create(admin: AdminClient, topics: Sequence[Topic], replication: int) -> set[str]:
    """Make the topics and return the names of those that nobody else had made meanwhile."""
    if not topics:
        return set()
    wanted = [
        NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=replication,
            config=dict(topic.settings),
        )
        for topic in topics
    ]
    made = set()
    for name, future in _settled(
        admin.create_topics(wanted, request_timeout=_TIMEOUT_S, operation_timeout=_TIMEOUT_S)
    ).items():
        try:
            future.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise LogUnavailable(f"topic {name}: {error.args[0].str()}") from None
        else:
            made.add(name)
    return made


def _check_settings(admin: AdminClient, topics: Sequence[Topic], bootstrap: str) -> None:
    if not topics:
        return
    settings_of = {topic.name: topic.settings for topic in topics}
    asked = [ConfigResource(ConfigResource.Type.TOPIC, name) for name in settings_of]
    problems: list[str] = []
    for resource, future in _settled(
        admin.describe_configs(asked, request_timeout=_TIMEOUT_S)
    ).items():
        name = resource.name
        try:
            found = {entry.name: str(entry.value) for entry in future.result().values()}
        except KafkaException as error:
            raise LogUnavailable(f"the settings of {name}: {error.args[0].str()}") from None
        problems += _unfit(name, found, settings_of[name], bootstrap)
    if problems:
        raise ConfigurationError("; ".join(problems))


def _unfit(
    topic: str, found: Mapping[str, str], needed: Mapping[str, str], bootstrap: str
) -> list[str]:
    return [
        f"topic {topic} has {setting}={found.get(setting)}, the ledger needs "
        f"{'at least ' if setting in _MINIMA else ''}{needed[setting]}: kafka-configs.sh "
        f"--bootstrap-server {bootstrap} --entity-type topics --entity-name {topic} --alter "
        f"--add-config {setting}={needed[setting]}"
        for setting in _KEPT
        if not _fits(setting, found.get(setting), needed[setting])
    ]


def _fits(setting: str, found: str | None, needed: str) -> bool:
    if setting in _MINIMA:
        return found is not None and found.isdecimal() and int(found) >= int(needed)
    return found == needed


def _settled(futures: Mapping[Asked, Future[Answer]]) -> Mapping[Asked, Future[Answer]]:
    """Wait for every future: a client that goes away before them takes their answers with it.

    Raises:
        LogUnavailable: one is not settled long after the broker should have answered.
    """
    _, waiting = wait(futures.values(), timeout=2 * _TIMEOUT_S)
    if waiting:
        raise LogUnavailable(f"the broker did not answer within {2 * _TIMEOUT_S:g} s")
    return futures


def _client(bootstrap: str) -> AdminClient:
    # Silent: every call tells by its error what went wrong, once, where it was asked for.
    return AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})


def _existing(admin: AdminClient, bootstrap: str, timeout_s: float) -> dict[str, int]:
    try:
        metadata = admin.list_topics(timeout=timeout_s)
    except KafkaException as error:
        raise LogUnavailable(
            f"the broker at {bootstrap} does not answer ({error.args[0].str()}): see `memledger "
            "status`"
        ) from None
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}
