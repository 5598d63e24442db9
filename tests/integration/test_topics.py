"""Topics are made as the ledger needs them, and refused where they would lose records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from uuid import uuid4

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from schemas.errors import ConfigurationError, LogUnavailable
from schemas.log import admin
from schemas.log.admin import ensure_topics
from schemas.topics import BROKERS_REPLICATION, LEDGER_SETTINGS, RECORD_BYTES_MAX, Topic
from tests.support.waiting import wait_until

PARTITIONS = 3


class Topics:
    """Topics of one test on the real broker."""

    def __init__(self, bootstrap: str) -> None:
        self.bootstrap = bootstrap
        self.client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 3})
        self.wanted = Topic(
            name=f"topics-{uuid4().hex}", partitions=PARTITIONS, settings=LEDGER_SETTINGS
        )

    def make(self, settings: Mapping[str, str], *, partitions: int = PARTITIONS) -> None:
        topic = NewTopic(self.wanted.name, partitions, 1, config=dict(settings))
        self.client.create_topics([topic], operation_timeout=20)[self.wanted.name].result(30)
        wait_until(
            lambda: self.wanted.name in self.client.list_topics(timeout=10).topics,
            what="the topic to be known",
        )

    def ensure(self) -> None:
        asyncio.run(ensure_topics(self.bootstrap, [self.wanted], replication=BROKERS_REPLICATION))


@pytest.fixture
def topics(kafka_bootstrap: str) -> Iterator[Topics]:
    made = Topics(kafka_bootstrap)
    yield made
    if made.wanted.name in made.client.list_topics(timeout=10).topics:
        made.client.delete_topics([made.wanted.name])[made.wanted.name].result(30)


def test_a_missing_topic_is_made_with_as_many_replicas_as_the_broker_likes(topics: Topics) -> None:
    topics.ensure()

    found = topics.client.list_topics(timeout=10).topics[topics.wanted.name]
    assert len(found.partitions) == PARTITIONS
    assert {len(partition.replicas) for partition in found.partitions.values()} == {1}
    topics.ensure()  # as it was made it is good


@pytest.mark.parametrize(
    ("setting", "found", "needed"),
    [
        ("cleanup.policy", "delete", "compact"),
        ("cleanup.policy", "compact,delete", "compact"),
        ("message.timestamp.type", "CreateTime", "LogAppendTime"),
        ("max.message.bytes", str(RECORD_BYTES_MAX - 1), f"at least {RECORD_BYTES_MAX}"),
    ],
)
def test_a_topic_that_would_lose_records_is_refused_with_the_remedy(
    topics: Topics, setting: str, found: str, needed: str
) -> None:
    topics.make({**LEDGER_SETTINGS, setting: found})

    with pytest.raises(ConfigurationError) as refused:
        topics.ensure()

    said = str(refused.value)
    assert f"topic {topics.wanted.name} has {setting}=" in said
    assert all(value in said for value in found.split(","))
    assert f"the ledger needs {needed}: kafka-configs.sh" in said
    assert f"--add-config {setting}={LEDGER_SETTINGS[setting]}" in said
    assert said.count("kafka-configs.sh") == 1


def test_every_setting_that_does_not_fit_is_named(topics: Topics) -> None:
    topics.make({})

    with pytest.raises(ConfigurationError, match=r"cleanup\.policy.*timestamp\.type.*max\.message"):
        topics.ensure()


def test_what_is_the_operators_to_choose_is_accepted(topics: Topics) -> None:
    topics.make(
        {
            **LEDGER_SETTINGS,
            "segment.bytes": str(64 * 1024 * 1024),
            "max.compaction.lag.ms": "86400000",
            "max.message.bytes": str(2 * RECORD_BYTES_MAX),
            "retention.ms": "1000",  # means nothing under compaction alone
        }
    )
    topics.ensure()


def test_a_topic_that_somebody_makes_meanwhile_is_checked_too(
    topics: Topics, monkeypatch: pytest.MonkeyPatch
) -> None:
    existing = admin._existing
    asked = 0

    def just_before(client: AdminClient, bootstrap: str, timeout_s: float) -> dict[str, int]:
        nonlocal asked
        asked += 1
        found = existing(client, bootstrap, timeout_s)
        if asked == 1:
            topics.make(LEDGER_SETTINGS, partitions=PARTITIONS + 1)
        return found

    monkeypatch.setattr(admin, "_existing", just_before)

    with pytest.raises(ConfigurationError, match=f"has {PARTITIONS + 1} partitions"):
        topics.ensure()
    assert asked == 2


@pytest.mark.lasting_broker(reason="the trial broker refuses no number of replicas")
def test_a_broker_that_refuses_is_told_apart_from_a_setting(topics: Topics) -> None:
    with pytest.raises(LogUnavailable, match=topics.wanted.name):
        asyncio.run(ensure_topics(topics.bootstrap, [topics.wanted], replication=5))
