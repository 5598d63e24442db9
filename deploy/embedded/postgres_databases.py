"""The role, the databases and the extension that memledger expects in its PostgreSQL."""

from pathlib import Path

import psycopg

SUPERUSER = "postgres"
OWNER = "memledger"
READ_MODEL_DATABASE = "memledger"
KEYRING_DATABASE = "memledger_keyring"
MAINTENANCE_DATABASE = "postgres"

_CONNECT_TIMEOUT_SECONDS = 30
_SQL_DIRECTORY = Path(__file__).parent / "sql"


def prepare_databases(maintenance_url: str, read_model_url: str, owner_password: str) -> None:
    """Create what is missing; where nothing is, nothing changes but the password's verifier.

    Args:
        maintenance_url: Leads the superuser to the database `postgres`.
        read_model_url: Leads the superuser to the database `memledger`.
        owner_password: What the role `memledger` is to log in with.

    Raises:
        psycopg.Error: The server refused.
    """
    with _connect(maintenance_url) as connection:
        # The verifier is computed here, so that the password itself is in no statement.
        verifier = connection.pgconn.encrypt_password(
            owner_password.encode(), OWNER.encode(), b"scram-sha-256"
        ).decode()
        connection.execute(_sql("set_owner_password_setting"), (verifier,))
        connection.execute(_sql("prepare_owner_role"))
        for name in (READ_MODEL_DATABASE, KEYRING_DATABASE):
            found = connection.execute(_sql("database_exists"), (name,)).fetchone()
            if found is not None and not found[0]:
                connection.execute(_sql(f"create_database_{name}"))
    with _connect(read_model_url) as connection:
        connection.execute(_sql("create_extensions"))


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url, autocommit=True, connect_timeout=_CONNECT_TIMEOUT_SECONDS)


def _sql(name: str) -> bytes:
    return (_SQL_DIRECTORY / f"{name}.sql").read_bytes()
