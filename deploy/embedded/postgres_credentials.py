"""The passwords of an embedded PostgreSQL: made at random, kept beside its data."""

import json
import secrets
from dataclasses import dataclass, field
from pathlib import Path

from deploy.embedded.directories import explained, write_private
from deploy.embedded.errors import DataDirectoryDamagedError

_PASSWORD_BYTES = 32


@dataclass(frozen=True, kw_only=True)
class PostgresCredentials:
    """One password for each role.

    Attributes:
        superuser: Password of the role `postgres`.
        owner: Password of the role `memledger`.
    """

    superuser: str = field(repr=False)
    owner: str = field(repr=False)


def make_credentials(path: Path) -> PostgresCredentials:
    """Make new passwords and write them to a file that only its owner can read.

    Args:
        path: The file.

    Raises:
        DataDirectoryError: It cannot be written.
    """
    credentials = PostgresCredentials(
        superuser=secrets.token_urlsafe(_PASSWORD_BYTES),
        owner=secrets.token_urlsafe(_PASSWORD_BYTES),
    )
    content = {"postgres": credentials.superuser, "memledger": credentials.owner}
    write_private(path, json.dumps(content))
    return credentials


def read_credentials(path: Path) -> PostgresCredentials:
    """Read the passwords.

    Args:
        path: The file.

    Raises:
        DataDirectoryDamagedError: It is missing or holds something else.
        DataDirectoryError: It cannot be read.
    """
    if not path.exists():
        raise DataDirectoryDamagedError(path, "is missing, and only it tells the passwords")
    try:
        with explained(path):
            content = json.loads(path.read_text(encoding="utf-8"))
        return PostgresCredentials(superuser=content["postgres"], owner=content["memledger"])
    except (ValueError, KeyError, TypeError) as error:
        raise DataDirectoryDamagedError(path, "does not hold the server's passwords") from error
