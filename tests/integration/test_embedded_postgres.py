"""A real embedded PostgreSQL: started, found again, killed, recovered, refused."""

import os
import signal
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import psycopg
import pytest

from deploy.embedded import (
    AlreadyRunningError,
    Avx2MissingError,
    DataDirectoryDamagedError,
    DataDirectoryNotWritableError,
    DataDirectoryUnreachableError,
    EmbeddedPostgres,
    EmbeddedStoreError,
    PortInUseError,
    PostgresFailedError,
)
from deploy.embedded.ports import HOST
from deploy.home import Home
from deploy.supervisor.stores import Stores
from schemas.settings import Settings

AS_ROOT = os.geteuid() == 0

# Starts the server of the directory given and then dies without any cleaning up.
START_AND_DIE = """
import os, pathlib, signal, sys
from deploy.embedded import EmbeddedPostgres
server = EmbeddedPostgres(pathlib.Path(sys.argv[1]))
server.start()
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """A directory that the account `nobody` can reach, which pytest's own are not for root."""
    with tempfile.TemporaryDirectory(prefix="memledger-postgres-") as name:
        home = Path(name)
        home.chmod(0o755)
        yield home


@pytest.fixture
def server(home: Path) -> Iterator[EmbeddedPostgres]:
    """A server that is stopped; all tests of the module share its directory."""
    server = EmbeddedPostgres(home / "shared", shared_buffers_mb=16)
    server.stop()
    yield server
    server.stop()


def test_a_server_outlives_its_starter_and_is_found_again(server: EmbeddedPostgres) -> None:
    data_dir = server._data_dir
    starter = subprocess.run(
        [sys.executable, "-c", START_AND_DIE, data_dir], capture_output=True, text=True, check=False
    )
    assert starter.returncode == -signal.SIGKILL, starter.stderr

    url = server.start()

    assert server.is_running()
    assert server.pid == int(starter.stdout)
    assert url == server.url("memledger") == EmbeddedPostgres(data_dir).start()
    with psycopg.connect(url) as connection:
        assert connection.info.host == HOST


def test_the_owner_is_no_superuser_and_has_both_databases_and_vectors(
    server: EmbeddedPostgres,
) -> None:
    server.start()

    for database in ("memledger", "memledger_keyring"):
        with psycopg.connect(server.url(database)) as connection:
            row = connection.execute(
                "SELECT current_user, rolsuper, rolbypassrls, pg_get_userbyid(datdba)"
                " FROM pg_roles, pg_database"
                " WHERE rolname = current_user AND datname = current_database()"
            ).fetchone()
            assert row == ("memledger", False, False, "memledger")
    with psycopg.connect(server.url()) as connection:
        row = connection.execute("SELECT '[1,2]'::halfvec <-> '[1,4]'::halfvec").fetchone()
        assert row == (2.0,)


def test_it_listens_on_the_loopback_alone_and_asks_for_a_password(
    server: EmbeddedPostgres,
) -> None:
    url = server.start()
    assert server.pid is not None
    listening = {
        connection.laddr.ip
        for connection in psutil.Process(server.pid).net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {HOST}

    for role in ("postgres", "memledger"):
        without_password = psycopg.conninfo.make_conninfo(url, user=role, password="wrong")
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            psycopg.connect(without_password)


def test_secrets_and_data_are_closed_to_others(server: EmbeddedPostgres) -> None:
    server.start()

    def mode(name: str) -> int:
        return stat.S_IMODE((server._data_dir / name).stat().st_mode)

    assert mode("credentials.json") == 0o600
    assert mode("cluster") == 0o700
    assert not (server._data_dir / ".initial-password").exists()
    if AS_ROOT:
        assert server.pid is not None
        assert psutil.Process(server.pid).username() == "nobody"


def test_the_log_names_no_statement_and_no_row(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.start(), autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS words (word text PRIMARY KEY)")
        connection.execute("TRUNCATE words")
        connection.execute("INSERT INTO words VALUES ('confidential')")
        with pytest.raises(psycopg.errors.UniqueViolation):
            connection.execute("INSERT INTO words VALUES ('confidential')")
    server.stop()

    log = (server._data_dir / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "confidential" not in log
    assert "duplicate key" not in log


def test_stopped_means_stopped_and_what_was_committed_is_there_again(
    server: EmbeddedPostgres,
) -> None:
    url = server.start()
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    server.stop()
    assert not server.is_running()
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(url)
    server.stop()

    assert server.start() == url
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_killed_postmaster_loses_nothing_that_was_committed(server: EmbeddedPostgres) -> None:
    url = server.start()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE counted (number integer)")
        for number in range(50):
            connection.execute("INSERT INTO counted VALUES (%s)", (number,))
    killed = server.pid
    assert killed is not None

    os.kill(killed, signal.SIGKILL)
    assert server.start() == url

    assert server.pid not in {None, killed}
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*), max(number) FROM counted").fetchone() == (
            50,
            49,
        )


def test_a_pid_file_that_names_a_stranger_does_not_keep_it_from_starting(
    server: EmbeddedPostgres,
) -> None:
    server.start()
    pid_file = server._cluster / "postmaster.pid"
    content = pid_file.read_text().splitlines()
    server.stop()
    with subprocess.Popen(["/bin/sleep", "60"]) as stranger:
        try:
            pid_file.write_text("\n".join([str(stranger.pid), *content[1:]]) + "\n")
            if AS_ROOT:
                os.chown(pid_file, server._cluster.stat().st_uid, server._cluster.stat().st_gid)
            assert not server.is_running()

            server.start()

            assert server.pid not in {None, stranger.pid}
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_port_that_is_taken_is_told_with_the_way_out(server: EmbeddedPostgres) -> None:
    port = int(server.start().rpartition(":")[2].partition("/")[0])
    server.stop()

    with socket.create_server((HOST, port)), pytest.raises(PortInUseError) as refused:
        server.start()

    assert refused.value.port == port
    assert f"Port {port}" in str(refused.value)
    assert "ports.json" in refused.value.remedy
    assert not server.is_running()


def test_a_chosen_port_is_used_and_another_one_refused_while_it_runs(
    server: EmbeddedPostgres,
) -> None:
    remembered = server.start()
    server.stop()
    with socket.create_server((HOST, 0)) as listener:
        port = listener.getsockname()[1]
    moved = EmbeddedPostgres(server._data_dir, port=port).start()
    assert f":{port}/" in moved
    assert moved != remembered

    with pytest.raises(AlreadyRunningError, match=f"already running on port {port}"):
        EmbeddedPostgres(server._data_dir, port=port + 1).start()
    assert server.url() == moved


def test_lost_passwords_are_told_before_the_server_starts(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    credentials = server._data_dir / "credentials.json"
    aside = credentials.rename(credentials.with_name("aside"))
    try:
        with pytest.raises(DataDirectoryDamagedError, match="only it tells the passwords"):
            server.start()
        assert not server.is_running()
    finally:
        aside.rename(credentials)


def test_a_server_that_cannot_start_shows_its_log(server: EmbeddedPostgres) -> None:
    server.start()
    server.stop()
    version = server._cluster / "PG_VERSION"
    version.write_text("17\n")
    try:
        with pytest.raises(PostgresFailedError, match="ended while it was starting") as failed:
            server.start()
    finally:
        version.write_text("18\n")

    assert failed.value.log == server._data_dir / "postgres.log"
    assert any("incompatible with server" in line for line in failed.value.last_lines)
    assert not any("ready to accept" in line for line in failed.value.last_lines)


def test_a_first_start_that_was_cut_off_is_begun_again(home: Path) -> None:
    data_dir = home / "cut-off"
    (data_dir / "cluster.partial-1" / "base").mkdir(parents=True)
    (data_dir / ".initial-password").write_text("old")
    (data_dir / "credentials.json").write_text("{")
    data_dir.chmod(0o755)
    server = EmbeddedPostgres(data_dir, shared_buffers_mb=16)
    try:
        with psycopg.connect(server.start()) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        server.stop()

    left = {path.name for path in data_dir.iterdir()}
    assert left == {"cluster", "credentials.json", "ports.json", "postgres.log", "start.lock"}


def test_the_cache_has_the_size_that_the_settings_give(home: Path) -> None:
    settings = Settings(home=home / "cached", postgres_cache_mb=24)
    Home(settings.home).make()
    server = Stores(settings.model_copy(update={"database_url": None})).postgres
    assert server is not None
    try:
        with psycopg.connect(server.start()) as connection:
            assert connection.execute("SHOW shared_buffers").fetchone() == ("24MB",)
    finally:
        server.stop()


def test_a_processor_without_avx2_is_refused_before_anything_is_made(home: Path) -> None:
    cpuinfo = home / "cpuinfo"
    cpuinfo.write_text("flags\t: fpu avx\n")
    server = EmbeddedPostgres(home / "no-avx2", cpuinfo=cpuinfo)

    with pytest.raises(Avx2MissingError):
        server.start()

    assert not (home / "no-avx2" / "cluster").exists()


@pytest.mark.parametrize("place", ["file/data", "/proc/memledger"])
def test_a_directory_that_cannot_be_written_is_named(home: Path, place: str) -> None:
    (home / "file").write_text("x")
    server = EmbeddedPostgres(home / place)

    with pytest.raises(DataDirectoryNotWritableError, match="Choose a directory"):
        server.start()


@pytest.mark.skipif(not AS_ROOT, reason="an ordinary user runs PostgreSQL as themselves")
def test_as_root_a_directory_closed_to_nobody_is_named(home: Path) -> None:
    closed = home / "closed"
    closed.mkdir(mode=0o700)

    with pytest.raises(DataDirectoryUnreachableError, match="'nobody'") as refused:
        EmbeddedPostgres(closed / "data").start()

    assert refused.value.closed == closed


def test_a_server_that_was_never_started_has_no_url(home: Path) -> None:
    server = EmbeddedPostgres(home / "never")

    with pytest.raises(EmbeddedStoreError):
        server.url()
    server.stop()
    assert not server.is_running()
    assert not (home / "never").exists()
