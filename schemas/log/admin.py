"""Making the topics, and refusing ones that do not fit."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from schemas.errors import ConfigurationError, LogUnavailable
from schemas.topics import Topic

_TIMEOUT_S: Final = 30.0


async def ensure_topics(bootstrap: str, topics: Sequence[Topic], *, replication: int) -> None:
    """Make the topics that are missing; check the partitions of those that are there.

    Raises:
        ConfigurationError: a topic has another number of partitions than the ledger was made with.
        LogUnavailable: the broker did not answer.
    """
    await asyncio.to_thread(_ensure_topics, bootstrap, topics, replication)


def partition_count(bootstrap: str, topic: str, *, timeout_s: float = _TIMEOUT_S) -> int | None:
    """Return how many partitions a topic has, or ``None`` where it does not exist.

    Raises:
        LogUnavailable: the broker did not answer.
    """
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    return _existing(admin, timeout_s).get(topic)


def _ensure_topics(bootstrap: str, topics: Sequence[Topic], replication: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
    existing = _existing(admin, _TIMEOUT_S)
    for topic in topics:
        found = existing.get(topic.name)
        if found not in (None, topic.partitions):
            raise ConfigurationError(
                f"topic {topic.name} has {found} partitions, MEMLEDGER_PARTITIONS is "
                f"{topic.partitions}: the number is fixed when "
                f"the topics are made, set it to {found}"
            )
    missing = [
        NewTopic(
            topic.name,
            num_partitions=topic.partitions,
            replication_factor=replication,
            config=dict(topic.settings),
        )
        for topic in topics
        if topic.name not in existing
    ]
    if not missing:
        return
    for name, future in admin.create_topics(missing, request_timeout=_TIMEOUT_S).items():
        try:
            future.result(_TIMEOUT_S)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise LogUnavailable(f"topic {name}: {error.args[0].str()}") from None


def _existing(admin: AdminClient, timeout_s: float) -> dict[str, int]:
    try:
        metadata = admin.list_topics(timeout=timeout_s)
    except KafkaException as error:
        raise LogUnavailable(f"the broker does not answer: {error.args[0].str()}") from None
    return {name: len(topic.partitions) for name, topic in metadata.topics.items()}
