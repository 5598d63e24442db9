"""Making PostgreSQL's own data directory."""

import shutil
from pathlib import Path

from deploy.embedded import logs
from deploy.embedded.accounts import ServiceAccount
from deploy.embedded.directories import made_whole, write_private
from deploy.embedded.errors import DiskFullError, PostgresFailedError
from deploy.embedded.postgres_binaries import PostgresBinaries
from deploy.embedded.postgres_databases import SUPERUSER
from deploy.embedded.processes import run_tool

_TIMEOUT_SECONDS = 300.0


def initialise_cluster(
    cluster: Path,
    *,
    binaries: PostgresBinaries,
    account: ServiceAccount | None,
    superuser_password: str,
    log: Path,
) -> None:
    """Make a data directory; a crash on the way leaves none.

    Args:
        cluster: The directory to make; only its parent exists.
        binaries: The installation whose `initdb` makes it.
        account: Who is to own it; the caller where None.
        superuser_password: The password of the role `postgres`.
        log: Where the output of `initdb` goes when it fails.

    Raises:
        DataDirectoryError: It cannot be written, or the disk is full.
        PostgresFailedError: `initdb` failed.
    """
    password_file = cluster.with_name(".initial-password")
    with made_whole(cluster) as partial:
        write_private(password_file, superuser_password)
        if account is not None:
            shutil.chown(partial, account.user_id, account.group_id)
            shutil.chown(password_file, account.user_id, account.group_id)
        try:
            _run_initdb(partial, password_file, binaries, account, log)
        finally:
            password_file.unlink()


def _run_initdb(
    cluster: Path,
    password_file: Path,
    binaries: PostgresBinaries,
    account: ServiceAccount | None,
    log: Path,
) -> None:
    output = run_tool(
        [
            binaries.program("initdb"),
            f"--pgdata={cluster}",
            "--encoding=UTF8",
            "--locale=C.UTF-8",
            # PostgreSQL's own C.UTF-8: it compares bytes, and no upgrade of the system's C library
            # can change the order under an index.
            "--locale-provider=builtin",
            f"--username={SUPERUSER}",
            "--auth=scram-sha-256",
            f"--pwfile={password_file}",
            "--no-instructions",
        ],
        directory=Path("/"),
        timeout_seconds=_TIMEOUT_SECONDS,
        account=account,
    )
    if output is None:
        return
    if logs.NO_SPACE in output:
        raise DiskFullError(cluster.parent)
    with log.open("a", encoding="utf-8") as file:
        file.write(output)
    raise PostgresFailedError("could not make its data directory", log, logs.last_of(output))
