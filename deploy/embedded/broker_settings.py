"""How the embedded broker and its Java virtual machine are set up."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from deploy.embedded.ports import HOST

# Relative to the data directory, in which the broker runs: no character of its path needs escaping,
# and the directory can be moved.
LOG_DIRECTORY = "kafka"

_STATIC: Mapping[str, str] = MappingProxyType(
    {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "CLIENT",
        # Topics have a fixed number of partitions, so none may come into being by accident.
        "auto.create.topics.enable": "false",
        "default.replication.factor": "1",
        "min.insync.replicas": "1",
        "offsets.topic.replication.factor": "1",
        "offsets.topic.num.partitions": "4",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "transaction.state.log.num.partitions": "4",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "share.coordinator.state.topic.num.partitions": "4",
        "group.initial.rebalance.delay.ms": "0",
        # What is appended stays until a topic says otherwise, also while the machine is off.
        "log.retention.ms": "-1",
        "log.retention.bytes": "-1",
        # Ten years in minutes: a consumer group keeps its place over any holiday.
        "offsets.retention.minutes": "5256000",
        "log.cleaner.enable": "true",
        # Taken from the heap at once; the default of 128 MB would be a quarter of it. 16 MB map
        # about 700,000 keys a pass, and the cleaner makes several passes where there are more.
        "log.cleaner.dedupe.buffer.size": "16777216",
        "log.cleaner.threads": "1",
        # A broker that was killed may register again only when its last session has expired: with
        # the default of 9 seconds every recovery would take that long.
        "broker.session.timeout.ms": "3000",
        "broker.heartbeat.interval.ms": "500",
        # No empty records to show other controllers that this one lives: there are none, and a disk
        # in a quiet hour may sleep.
        "metadata.max.idle.interval.ms": "0",
        # One client machine: fewer threads than a server farm's broker.
        "num.network.threads": "2",
        "num.io.threads": "4",
        "background.threads": "2",
        "num.recovery.threads.per.data.dir": "2",
    }
)


def broker_properties(
    client_port: int, controller_port: int, *, log_directory: str = LOG_DIRECTORY
) -> str:
    """Write the broker's configuration.

    Args:
        client_port: Where it answers clients.
        controller_port: Where its own controller listens.
        log_directory: Where topics are kept, relative to the directory in which the broker runs.

    Returns:
        The text of a Java properties file.
    """
    placed = {
        "log.dirs": log_directory,
        "listeners": f"CLIENT://{HOST}:{client_port},CONTROLLER://{HOST}:{controller_port}",
        "advertised.listeners": f"CLIENT://{HOST}:{client_port}",
        "controller.quorum.voters": f"1@{HOST}:{controller_port}",
    }
    return "".join(f"{name}={value}\n" for name, value in {**_STATIC, **placed}.items())


def machine_options(heap_mb: int, data_dir: Path, logging: Path) -> list[str]:
    """Give the options of the broker's Java virtual machine.

    Args:
        heap_mb: Largest heap in MiB.
        data_dir: Where it logs.
        logging: The configuration of log4j.
    """
    return [
        f"-Xmx{heap_mb}m",
        # The quick compiler alone. Measured on two cores with records of 1 KB: half the processor
        # time of the default, at 1,000 records/s and while starting, and 100,000 records/s at most.
        "-XX:TieredStopAtLevel=1",
        # The smallest footprint of the collectors; pauses on a heap of this size are short.
        "-XX:+UseSerialGC",
        "-XX:MaxDirectMemorySize=128m",
        # A broker without memory ends, and is started again, rather than hang half alive.
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        f"-XX:ErrorFile={data_dir / 'java-error.log'}",
        "-Djava.awt.headless=true",
        "-Djava.net.preferIPv4Stack=true",
        f"-Dlog4j2.configurationFile={logging}",
        f"-Dmemledger.log.directory={data_dir}",
    ]
