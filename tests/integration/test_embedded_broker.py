"""A real embedded broker: started, found again, killed, recovered, refused."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from deploy.embedded import (
    BrokerFailedError,
    DataDirectoryNotWritableError,
    EmbeddedBroker,
    JarChecksumMismatchError,
    JavaMissingError,
    MavenMissingError,
    PortInUseError,
    resolve_jars,
)
from deploy.embedded.jars import JARS_VARIABLE
from deploy.embedded.ports import HOST
from tests.support.waiting import wait_until

pytestmark = pytest.mark.lasting_broker(reason="it is about that broker itself")

TOPIC = "kept"
PARTITIONS = 2
RECORDS = 400

# Starts the broker of the directory given and then dies without any cleaning up.
START_AND_DIE = """
import os, pathlib, signal, sys
from deploy.embedded import EmbeddedBroker
broker = EmbeddedBroker(pathlib.Path(sys.argv[1]))
broker.start()
print(broker.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memledger-broker-") as name:
        yield Path(name)


@pytest.fixture
def broker(home: Path) -> Iterator[EmbeddedBroker]:
    broker = EmbeddedBroker(home / "kafka")
    yield broker
    broker.stop()


def create_topic(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])[TOPIC].result(timeout=10)


def append(bootstrap: str, values: range) -> None:
    producer = Producer(
        {"bootstrap.servers": bootstrap, "enable.idempotence": True, "log_level": 0}
    )
    failures: list[KafkaError] = []
    for value in values:
        producer.produce(
            TOPIC,
            str(value).encode(),
            partition=value % PARTITIONS,
            on_delivery=lambda error, _message: failures.append(error) if error else None,
        )
    assert producer.flush(20) == 0
    assert failures == []


def read_all(bootstrap: str, count: int) -> list[int]:
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "reader", "log_level": 0})
    try:
        consumer.assign([TopicPartition(TOPIC, number, 0) for number in range(PARTITIONS)])
        read: list[int] = []

        def is_complete() -> bool:
            for message in consumer.consume(count, 0.2):
                value = message.value()
                assert isinstance(value, bytes), message.error()
                read.append(int(value))
            return len(read) >= count

        wait_until(is_complete, what=f"{count} records")
        return sorted(read)
    finally:
        consumer.close()


def test_a_broker_outlives_its_starter_and_loses_nothing_on_kill_and_stop(
    broker: EmbeddedBroker,
) -> None:
    data_dir = broker._data_dir
    starter = subprocess.run(
        [sys.executable, "-c", START_AND_DIE, data_dir], capture_output=True, text=True, check=False
    )
    assert starter.returncode == -signal.SIGKILL, starter.stderr
    bootstrap = broker.start()
    started = broker.pid
    assert started == int(starter.stdout)
    assert EmbeddedBroker(data_dir).start() == bootstrap
    assert bootstrap.startswith(f"{HOST}:")

    create_topic(bootstrap)
    append(bootstrap, range(RECORDS))
    os.kill(started, signal.SIGKILL)
    assert broker.start() == bootstrap
    assert broker.pid not in {None, started}
    assert read_all(bootstrap, RECORDS) == list(range(RECORDS))

    append(bootstrap, range(RECORDS, 2 * RECORDS))
    broker.stop()
    assert not broker.is_running()
    broker.stop()
    assert broker.start() == bootstrap
    assert read_all(bootstrap, 2 * RECORDS) == list(range(2 * RECORDS))

    running = broker.pid
    broker._process_file.path.unlink()
    assert broker.start() == bootstrap
    assert broker.pid == running

    assert_a_topic_is_never_made_by_accident(bootstrap)
    assert_it_listens_on_the_loopback_alone(broker)


def assert_a_topic_is_never_made_by_accident(bootstrap: str) -> None:
    producer = Producer(
        {
            "bootstrap.servers": bootstrap,
            # How long a client waits for a topic that the broker may just be making.
            "topic.metadata.propagation.max.ms": 500,
            "log_level": 0,
        }
    )
    failures: list[KafkaError | None] = []
    producer.produce("misspelt", b"x", on_delivery=lambda error, _message: failures.append(error))
    producer.flush(20)
    codes = [failure and failure.code() for failure in failures]
    assert codes == [KafkaError.UNKNOWN_TOPIC_OR_PART]


def assert_it_listens_on_the_loopback_alone(broker: EmbeddedBroker) -> None:
    assert broker.pid is not None
    listening = {
        connection.laddr.ip.removeprefix("::ffff:")
        for connection in psutil.Process(broker.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {HOST}


def test_a_process_that_inherited_the_id_is_not_taken_for_the_broker(
    broker: EmbeddedBroker,
) -> None:
    broker._data_dir.mkdir()
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        broker._process_file.path.write_text(
            f'{{"pid": {stranger.pid}, "started_at": {psutil.Process(stranger.pid).create_time()}}}'
        )
        try:
            assert not broker.is_running()

            broker.stop()

            assert stranger.poll() is None
        finally:
            stranger.kill()


@pytest.mark.parametrize("taken", ["clients", "controller"])
def test_a_port_that_is_taken_is_told_with_the_way_out(broker: EmbeddedBroker, taken: str) -> None:
    with socket.create_server((HOST, 0)) as listener, socket.create_server((HOST, 0)) as probe:
        port, free = listener.getsockname()[1], probe.getsockname()[1]
        probe.close()
        other = "controller" if taken == "clients" else "clients"
        broker._data_dir.mkdir()
        broker._ports_file.write_text(f'{{"{taken}": {port}, "{other}": {free}}}')

        with pytest.raises(PortInUseError, match=f"Port {port}") as refused:
            broker.start()

    assert refused.value.port == port
    assert not broker.is_running()


def test_a_broker_that_cannot_format_shows_what_java_said(home: Path) -> None:
    broker = EmbeddedBroker(home / "kafka", heap_mb=1)

    with pytest.raises(BrokerFailedError, match="could not format") as failed:
        broker.start()

    assert any("heap" in line for line in failed.value.last_lines)
    assert not (home / "kafka" / "kafka").exists()


def test_a_broker_that_cannot_start_shows_its_log(broker: EmbeddedBroker) -> None:
    storage = broker._data_dir / "kafka"
    storage.mkdir(parents=True)
    (storage / "meta.properties").write_text("version=1\ncluster.id=someone-elses\nnode.id=7\n")

    with pytest.raises(BrokerFailedError, match="ended while it was starting") as failed:
        broker.start()

    assert any("7" in line for line in failed.value.last_lines)
    assert str(failed.value.log) in str(failed.value)
    assert not broker.is_running()


def test_without_java_it_says_so(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")

    with pytest.raises(JavaMissingError, match="Install Java 17"):
        broker.start()


def test_without_jars_and_maven_it_says_so(
    broker: EmbeddedBroker, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_java = home / "bin"
    only_java.mkdir()
    (only_java / "java").write_text("#!/bin/sh\necho 'openjdk version \"17.0.1\"' >&2\n")
    (only_java / "java").chmod(0o755)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(only_java))
    monkeypatch.setenv(JARS_VARIABLE, str(home / "empty"))

    with pytest.raises(MavenMissingError, match="Install Maven"):
        broker.start()


def test_a_jar_that_was_changed_is_never_run(
    broker: EmbeddedBroker, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed = home / "jars"
    changed.mkdir()
    for jar in resolve_jars():
        (changed / jar.name).symlink_to(jar)
    victim = changed / "kafka_2.13-4.4.0.jar"
    content = bytearray(victim.read_bytes())
    content[-1] ^= 1
    victim.unlink()
    victim.write_bytes(content)
    monkeypatch.setenv(JARS_VARIABLE, str(changed))

    with pytest.raises(JarChecksumMismatchError) as refused:
        broker.start()

    assert refused.value.jar == victim
    assert not broker.is_running()


@pytest.mark.parametrize("place", ["file/data", "/proc/memledger"])
def test_a_directory_that_cannot_be_written_is_named(home: Path, place: str) -> None:
    (home / "file").write_text("x")

    with pytest.raises(DataDirectoryNotWritableError, match="Choose a directory"):
        EmbeddedBroker(home / place).start()
