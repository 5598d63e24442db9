"""PostgreSQL with pgvector and a Kafka broker on this machine, for trials and small installations.

All are started detached, found again by a later process, and listen on 127.0.0.1 alone. They keep
their data on disk, but for the trial broker, which needs no Java and keeps its log in memory.
"""

from deploy.embedded.broker import EmbeddedBroker
from deploy.embedded.errors import (
    AlreadyRunningError,
    Avx2MissingError,
    BinariesMissingError,
    BrokerFailedError,
    DataDirectoryDamagedError,
    DataDirectoryError,
    DataDirectoryNotWritableError,
    DataDirectoryUnreachableError,
    DiskFullError,
    EmbeddedStoreError,
    JarChecksumMismatchError,
    JarsUnavailableError,
    JavaMissingError,
    JavaTooOldError,
    MavenMissingError,
    PortInUseError,
    PostgresFailedError,
    PrerequisiteMissingError,
    StopTimeoutError,
    StoreBusyError,
    StoreFailedError,
    TrialBrokerFailedError,
    TrialBrokerMissingError,
)
from deploy.embedded.jars import resolve_jars
from deploy.embedded.obstacles import obstacle_to_the_broker
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.trial_broker import TrialBroker

__all__ = [
    "AlreadyRunningError",
    "Avx2MissingError",
    "BinariesMissingError",
    "BrokerFailedError",
    "DataDirectoryDamagedError",
    "DataDirectoryError",
    "DataDirectoryNotWritableError",
    "DataDirectoryUnreachableError",
    "DiskFullError",
    "EmbeddedBroker",
    "EmbeddedPostgres",
    "EmbeddedStoreError",
    "JarChecksumMismatchError",
    "JarsUnavailableError",
    "JavaMissingError",
    "JavaTooOldError",
    "MavenMissingError",
    "PortInUseError",
    "PostgresFailedError",
    "PrerequisiteMissingError",
    "StopTimeoutError",
    "StoreBusyError",
    "StoreFailedError",
    "TrialBroker",
    "TrialBrokerFailedError",
    "TrialBrokerMissingError",
    "obstacle_to_the_broker",
    "resolve_jars",
]
