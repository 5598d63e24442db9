"""PostgreSQL with pgvector and a Kafka broker on this machine, for trials and small installations.

Both are started detached and found again by a later process; both keep their data on disk and
listen on 127.0.0.1 alone.
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
)
from deploy.embedded.jars import resolve_jars
from deploy.embedded.postgres import EmbeddedPostgres

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
    "resolve_jars",
]
