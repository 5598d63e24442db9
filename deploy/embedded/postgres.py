"""An embedded PostgreSQL 18 with pgvector, started from a wheel's programs."""

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import psycopg

from deploy.embedded import logs
from deploy.embedded.accounts import ServiceAccount, require_reachable, service_account
from deploy.embedded.directories import explained, locked, make_writable
from deploy.embedded.errors import (
    AlreadyRunningError,
    DiskFullError,
    EmbeddedStoreError,
    PortInUseError,
    PostgresFailedError,
    StopTimeoutError,
)
from deploy.embedded.ports import HOST, choose_ports, is_free, read_ports, write_ports
from deploy.embedded.postgres_binaries import (
    CPUINFO,
    PostgresBinaries,
    executable_by,
    find_binaries,
    require_avx2,
)
from deploy.embedded.postgres_cluster import initialise_cluster
from deploy.embedded.postgres_credentials import make_credentials, read_credentials
from deploy.embedded.postgres_databases import (
    MAINTENANCE_DATABASE,
    OWNER,
    READ_MODEL_DATABASE,
    SUPERUSER,
    prepare_databases,
)
from deploy.embedded.postmaster import Postmaster, clear_remains, find_postmaster
from deploy.embedded.processes import end, has_ended, launch_detached, living, wait_until

_STORE = "The embedded PostgreSQL"
_PORT_NAME = "postgres"

# Recovery after a crash replays at most `max_wal_size` of log, here 1 GB.
_START_TIMEOUT_SECONDS = 300.0
_LOCK_TIMEOUT_SECONDS = 2 * _START_TIMEOUT_SECONDS
_FAST_STOP_TIMEOUT_SECONDS = 60.0
_IMMEDIATE_STOP_TIMEOUT_SECONDS = 15.0
# The children of a killed postmaster end at once unless they are in the middle of a long operation.
_REMAINS_TIMEOUT_SECONDS = 60.0
_KILLED_TIMEOUT_SECONDS = 5.0
_LOG_BYTES_MAX = 5_000_000

_SETTINGS: Mapping[str, str] = MappingProxyType(
    {
        "listen_addresses": HOST,
        "unix_socket_directories": "",
        "fsync": "on",
        "max_wal_size": "1GB",
        "timezone": "UTC",
        "log_timezone": "UTC",
        # The log names no statement, parameter or row, which may hold what a user said, and a
        # client's errors go to that client alone.
        "log_min_messages": "log",
        "log_min_error_statement": "panic",
        "log_error_verbosity": "terse",
        "log_checkpoints": "off",
        "log_autovacuum_min_duration": "-1",
    }
)


class EmbeddedPostgres:
    """A PostgreSQL server on 127.0.0.1 that outlives the process that started it.

    The directory holds the cluster, its log, the port and the random passwords (mode 0600). Another
    instance over the same directory, in this process or a later one, finds the running server. As
    root the server runs as `nobody`.
    """

    def __init__(
        self,
        data_dir: Path,
        port: int | None = None,
        *,
        shared_buffers_mb: int = 256,
        max_connections: int = 200,
        cpuinfo: Path = CPUINFO,
    ) -> None:
        """Describe a server; nothing is started.

        Args:
            data_dir: Its directory, made by `start` where missing.
            port: TCP port; where left out, a free one is chosen once and remembered.
            shared_buffers_mb: Size of PostgreSQL's own cache in MiB.
            max_connections: Most connections at once.
            cpuinfo: Where the processor's flags are read; where it is missing, they go unchecked.
        """
        self._data_dir = data_dir.expanduser().resolve()
        self._cluster = self._data_dir / "cluster"
        self._credentials_file = self._data_dir / "credentials.json"
        self._ports_file = self._data_dir / "ports.json"
        self._log = self._data_dir / "postgres.log"
        self._port = port
        self._shared_buffers_mb = shared_buffers_mb
        self._max_connections = max_connections
        self._cpuinfo = cpuinfo

    @property
    def pid(self) -> int | None:
        """The postmaster's process id; None where none runs."""
        found = find_postmaster(self._cluster)
        return found.process.pid if found else None

    def is_running(self) -> bool:
        """Tell whether a postmaster serves the directory."""
        return self.pid is not None

    def start(self) -> str:
        """Start the server, or find the one that runs; make the databases where missing.

        Returns:
            The URL of the database `memledger` for its owner, as `url` gives it.

        Raises:
            PrerequisiteMissingError: The machine lacks AVX2 or the wheel is not installed.
            DataDirectoryError: The directory cannot be used, or its disk is full.
            PortInUseError: Another program listens on the port.
            AlreadyRunningError: It runs on another port than the one asked for.
            StoreBusyError: Another process has been starting or stopping it for very long.
            PostgresFailedError: The server ended or did not become ready.
        """
        with self._locked():
            found = find_postmaster(self._cluster)
            if found is not None and found.is_stopping:
                self._wait_for_end(found)
                found = None
            if found is None or not self._attach(found):
                self._make_usable(*self._launch())
        return self.url()

    def stop(self) -> None:
        """Stop the server: open transactions are rolled back; nothing happens where none runs.

        Raises:
            StopTimeoutError: It did not end.
            StoreBusyError: Another process has been starting or stopping it for very long.
        """
        if not self._data_dir.exists():
            return
        with self._locked():
            found = find_postmaster(self._cluster)
            if found is None:
                return
            # PostgreSQL's "fast" and, where that hangs, "immediate" shutdown.
            if end(found.process, signal.SIGINT, timeout_seconds=_FAST_STOP_TIMEOUT_SECONDS):
                return
            seconds = _IMMEDIATE_STOP_TIMEOUT_SECONDS
            if not end(found.process, signal.SIGQUIT, timeout_seconds=seconds):
                raise StopTimeoutError(_STORE, found.process.pid, seconds)

    def url(self, database: str = READ_MODEL_DATABASE) -> str:
        """Give the connection URL of a database for the role `memledger`, which owns it.

        Args:
            database: Its name.

        Raises:
            EmbeddedStoreError: The server was never started.
        """
        return self._url(OWNER, read_credentials(self._credentials_file).owner, database)

    def superuser_url(self, database: str = MAINTENANCE_DATABASE) -> str:
        """Give the connection URL of a database for the superuser, which no service needs.

        Args:
            database: Its name.

        Raises:
            EmbeddedStoreError: The server was never started.
        """
        return self._url(SUPERUSER, read_credentials(self._credentials_file).superuser, database)

    def _url(self, role: str, password: str, database: str) -> str:
        port = read_ports(self._ports_file).get(_PORT_NAME)
        if port is None:
            raise EmbeddedStoreError(
                f"{_STORE} in {self._data_dir} was never started.", "Start it first."
            )
        # The passwords consist of characters that a URL takes as they are.
        return f"postgresql://{role}:{password}@{HOST}:{port}/{database}"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        # As root, the service account has to pass (not list) what is made here.
        make_writable(self._data_dir, mode=0o711 if service_account() else 0o700)
        with locked(self._data_dir / "start.lock", timeout_seconds=_LOCK_TIMEOUT_SECONDS):
            yield

    def _attach(self, found: Postmaster) -> bool:
        try:
            self._make_usable(found.process.pid, logs.size(self._log))
        except PostgresFailedError:
            # It may have been killed between being found and being used.
            seconds = _KILLED_TIMEOUT_SECONDS
            if not wait_until(lambda: has_ended(found.process), timeout_seconds=seconds):
                raise
            return False
        return True

    def _make_usable(self, process_id: int, log_start: int) -> None:
        self._remember_port(self._wait_until_ready(process_id, log_start))
        self._prepare_databases(log_start)

    def _launch(self) -> tuple[int, int]:
        if self._cpuinfo.exists():
            require_avx2(self._cpuinfo.read_text(encoding="utf-8", errors="replace"))
        account = service_account()
        require_reachable(self._data_dir, account)
        binaries = executable_by(find_binaries(), account, self._data_dir)
        self._make_cluster(binaries, account)
        with explained(self._cluster):
            cleared = clear_remains(self._cluster, timeout_seconds=_REMAINS_TIMEOUT_SECONDS)
        if not cleared:
            raise self._failure("was killed, and some of its processes do not end", 0)
        port = self._free_port()
        with explained(self._log):
            logs.rotate(self._log, bytes_max=_LOG_BYTES_MAX)
            log_start = logs.size(self._log)
            with self._log.open("ab") as output:
                process_id = launch_detached(
                    self._command(binaries, port),
                    output=output,
                    directory=Path("/"),
                    account=account,
                )
        return process_id, log_start

    def _make_cluster(self, binaries: PostgresBinaries, account: ServiceAccount | None) -> None:
        if self._cluster.exists():
            # Without its passwords the server would start, and let nobody in.
            read_credentials(self._credentials_file)
            return
        initialise_cluster(
            self._cluster,
            binaries=binaries,
            account=account,
            superuser_password=make_credentials(self._credentials_file).superuser,
            log=self._log,
        )

    def _free_port(self) -> int:
        port = self._port or read_ports(self._ports_file).get(_PORT_NAME) or choose_ports(1)[0]
        if not is_free(port):
            raise PortInUseError(port, _STORE, self._ports_file)
        write_ports(self._ports_file, {_PORT_NAME: port})
        return port

    def _command(self, binaries: PostgresBinaries, port: int) -> list[str | Path]:
        settings = {
            **_SETTINGS,
            "port": str(port),
            "shared_buffers": f"{self._shared_buffers_mb}MB",
            "max_connections": str(self._max_connections),
        }
        options = [f"--{name}={value}" for name, value in settings.items()]
        return [binaries.program("postgres"), "-D", self._cluster, *options]

    def _wait_until_ready(self, process_id: int, log_start: int) -> Postmaster:
        def is_settled() -> bool:
            found = find_postmaster(self._cluster)
            return (found is not None and found.is_ready) or living(process_id) is None

        seconds = _START_TIMEOUT_SECONDS
        if not wait_until(is_settled, timeout_seconds=seconds):
            raise self._failure(f"was not ready after {seconds:.0f} seconds", log_start)
        found = find_postmaster(self._cluster)
        if found is None or not found.is_ready:
            raise self._failure("ended while it was starting", log_start)
        return found

    def _wait_for_end(self, found: Postmaster) -> None:
        seconds = _FAST_STOP_TIMEOUT_SECONDS
        if not wait_until(lambda: has_ended(found.process), timeout_seconds=seconds):
            raise StopTimeoutError(_STORE, found.process.pid, seconds)

    def _remember_port(self, found: Postmaster) -> None:
        if found.port is None:
            return
        if self._port is not None and found.port != self._port:
            raise AlreadyRunningError(_STORE, found.port, self._port)
        if read_ports(self._ports_file).get(_PORT_NAME) != found.port:
            write_ports(self._ports_file, {_PORT_NAME: found.port})

    def _prepare_databases(self, log_start: int) -> None:
        try:
            prepare_databases(
                self.superuser_url(MAINTENANCE_DATABASE),
                self.superuser_url(READ_MODEL_DATABASE),
                read_credentials(self._credentials_file).owner,
            )
        except psycopg.errors.DiskFull as error:
            raise DiskFullError(self._data_dir) from error
        except psycopg.Error as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise self._failure(
                f"runs, but refused to be prepared ({reason})", log_start
            ) from error

    def _failure(self, reason: str, log_start: int) -> EmbeddedStoreError:
        lines = logs.last_lines(self._log, since=log_start)
        text = "\n".join(lines)
        if logs.NO_SPACE in text:
            return DiskFullError(self._data_dir)
        port = read_ports(self._ports_file).get(_PORT_NAME)
        if logs.ADDRESS_IN_USE in text and port is not None:
            return PortInUseError(port, _STORE, self._ports_file)
        return PostgresFailedError(reason, self._log, lines)
