"""The account that a server runs as where memledger itself runs as root."""

import os
import pwd
from dataclasses import dataclass
from pathlib import Path

from deploy.embedded.errors import DataDirectoryUnreachableError, EmbeddedStoreError

_NAME = "nobody"
_EXECUTE = 0o1
_READ_EXECUTE = 0o5


@dataclass(frozen=True, kw_only=True)
class ServiceAccount:
    """An account without rights of its own.

    Attributes:
        name: Its name.
        user_id: Its numeric user id.
        group_id: Its numeric group id.
    """

    name: str
    user_id: int
    group_id: int


def service_account() -> ServiceAccount | None:
    """Find whom PostgreSQL, which refuses to run as root, has to run as.

    Returns:
        The account 'nobody' for root; None for anyone else, who runs it as themselves.

    Raises:
        EmbeddedStoreError: There is no such account.
    """
    if os.geteuid() != 0:
        return None
    try:
        entry = pwd.getpwnam(_NAME)
    except KeyError as error:
        raise EmbeddedStoreError(
            f"PostgreSQL refuses to run as root, and there is no account '{_NAME}' to run it as.",
            "Run memledger as an ordinary user, or set DATABASE_URL to a server of yours.",
        ) from error
    return ServiceAccount(name=_NAME, user_id=entry.pw_uid, group_id=entry.pw_gid)


def first_closed(directory: Path, account: ServiceAccount) -> Path | None:
    """Find the first directory on the way to (and including) one that an account cannot pass.

    Permission bits decide; access control lists are not looked at.

    Args:
        directory: An absolute path that exists.
        account: The account.
    """
    for step in (*reversed(directory.parents), directory):
        if not _allows(step, account, _EXECUTE):
            return step
    return None


def can_execute(program: Path, account: ServiceAccount) -> bool:
    """Tell whether an account can walk to a program and run it.

    Args:
        program: An absolute path that exists.
        account: The account.
    """
    return first_closed(program.parent, account) is None and _allows(
        program, account, _READ_EXECUTE
    )


def require_reachable(directory: Path, account: ServiceAccount | None) -> None:
    """Refuse a directory that an account cannot walk to.

    Args:
        directory: An absolute path that exists.
        account: The account; None, the caller, can.

    Raises:
        DataDirectoryUnreachableError: A directory on the way is closed to the account.
    """
    if account is None:
        return
    closed = first_closed(directory.resolve(), account)
    if closed is not None:
        raise DataDirectoryUnreachableError(directory, closed, account.name)


def _allows(path: Path, account: ServiceAccount, wanted: int) -> bool:
    status = path.stat()
    if status.st_uid == account.user_id:
        granted = status.st_mode >> 6
    elif status.st_gid == account.group_id:
        granted = status.st_mode >> 3
    else:
        granted = status.st_mode
    return granted & wanted == wanted
