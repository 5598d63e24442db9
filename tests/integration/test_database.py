"""Migrations, pools and roles on a real Postgres."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from deploy.embedded import EmbeddedPostgres
from schemas.database import ensure_database, migrate, open_pool
from schemas.errors import ConfigurationError, MigrationError

FIRST = """
CREATE TABLE notes (subject uuid NOT NULL, body varchar({size}) NOT NULL DEFAULT '{}');
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
ALTER TABLE notes FORCE ROW LEVEL SECURITY;
CREATE POLICY notes_of_one ON notes
    USING (subject = NULLIF(current_setting('memledger.subject', true), '')::uuid);
"""
SECOND = "CREATE TABLE later (x integer);"


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    directory = tmp_path / "migrations"
    directory.mkdir()
    (directory / "0001_first.sql").write_text(FIRST)
    return directory


def run(url: str, migrations: Path, schema: str | None = "g1", size: str = "10") -> list[int]:
    return asyncio.run(migrate(url, migrations, schema=schema, parameters={"size": size}))


def tables(url: str, schema: str = "g1") -> set[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = %s", (schema,)
        )
        return {row[0] for row in rows}


class TestMigrate:
    def test_applies_in_order_what_is_lacking(self, postgres_url: str, migrations: Path) -> None:
        assert run(postgres_url, migrations) == [1]
        assert run(postgres_url, migrations) == []
        (migrations / "0002_second.sql").write_text(SECOND)
        assert run(postgres_url, migrations) == [2]
        assert tables(postgres_url) == {"notes", "later", "schema_migrations"}

    def test_keeps_schemas_apart(self, postgres_url: str, migrations: Path) -> None:
        assert run(postgres_url, migrations, schema="g1") == [1]
        assert run(postgres_url, migrations, schema="g2", size="20") == [1]
        assert tables(postgres_url, "g2") == tables(postgres_url, "g1")

    def test_works_in_the_default_schema(self, postgres_url: str, migrations: Path) -> None:
        assert run(postgres_url, migrations, schema=None) == [1]
        assert "notes" in tables(postgres_url, "public")

    def test_by_processes_that_start_together_applies_once(
        self, postgres_url: str, migrations: Path
    ) -> None:
        async def together() -> list[list[int]]:
            return await asyncio.gather(
                *(
                    migrate(postgres_url, migrations, schema="g1", parameters={"size": "10"})
                    for _ in range(6)
                )
            )

        assert sorted(asyncio.run(together())) == [[], [], [], [], [], [1]]

    def test_that_fails_leaves_nothing_of_that_file(
        self, postgres_url: str, migrations: Path
    ) -> None:
        broken = migrations / "0002_second.sql"
        broken.write_text(SECOND + "SELECT 1 / 0;")
        with pytest.raises(MigrationError, match=r"0002_second\.sql failed and was rolled back"):
            run(postgres_url, migrations)
        assert "later" not in tables(postgres_url)
        broken.write_text(SECOND)
        assert run(postgres_url, migrations) == [2]

    def test_refuses_a_file_that_was_changed(self, postgres_url: str, migrations: Path) -> None:
        run(postgres_url, migrations)
        (migrations / "0001_first.sql").write_text(FIRST + "-- one more word")
        (migrations / "0002_second.sql").write_text(SECOND)
        with pytest.raises(MigrationError, match="put the change into a new migration"):
            run(postgres_url, migrations)
        assert "later" not in tables(postgres_url)

    def test_refuses_a_database_of_a_newer_release(
        self, postgres_url: str, migrations: Path
    ) -> None:
        (migrations / "0002_second.sql").write_text(SECOND)
        run(postgres_url, migrations)
        (migrations / "0002_second.sql").unlink()
        with pytest.raises(MigrationError, match="newer release"):
            run(postgres_url, migrations)


class TestPool:
    def test_of_an_ordinary_login_sees_no_row_of_unnamed_subjects(
        self, postgres_url: str, migrations: Path
    ) -> None:
        run(postgres_url, migrations)
        assert asyncio.run(visible(postgres_url)) == ("memledger", 0, 1)

    def test_of_a_superuser_acts_as_a_role_for_which_row_security_holds(
        self, postgres: EmbeddedPostgres, postgres_url: str, migrations: Path
    ) -> None:
        superuser_url = postgres.superuser_url(str(conninfo_to_dict(postgres_url)["dbname"]))
        run(superuser_url, migrations)
        assert asyncio.run(visible(superuser_url)) == ("memledger_app", 0, 1)

    def test_of_a_superuser_may_use_tables_that_are_made_while_it_is_open(
        self, postgres: EmbeddedPostgres, postgres_url: str, migrations: Path
    ) -> None:
        superuser_url = postgres.superuser_url(str(conninfo_to_dict(postgres_url)["dbname"]))
        run(superuser_url, migrations)
        (migrations / "0002_second.sql").write_text(SECOND)

        async def count_later() -> int:
            pool = await open_pool(superuser_url, schema="g1")
            await migrate(superuser_url, migrations, schema="g1", parameters={"size": "10"})
            async with pool.connection() as connection:
                cursor = await connection.execute("SELECT count(*) FROM later")
                row = await cursor.fetchone()
            await pool.close()
            assert row is not None
            return int(row[0])

        assert asyncio.run(count_later()) == 0

    def test_that_waives_row_security_keeps_the_login(
        self, postgres: EmbeddedPostgres, postgres_url: str
    ) -> None:
        superuser_url = postgres.superuser_url(str(conninfo_to_dict(postgres_url)["dbname"]))

        async def role() -> str:
            pool = await open_pool(superuser_url, row_security=False)
            async with pool.connection() as connection:
                cursor = await connection.execute("SELECT current_user")
                row = await cursor.fetchone()
            await pool.close()
            assert row is not None
            return str(row[0])

        assert asyncio.run(role()) == conninfo_to_dict(superuser_url)["user"]

    def test_that_is_read_only_refuses_to_write(self, postgres_url: str, migrations: Path) -> None:
        run(postgres_url, migrations)

        async def write() -> None:
            pool = await open_pool(postgres_url, schema="g1", read_only=True)
            try:
                async with pool.connection() as connection:
                    await connection.execute("CREATE TABLE g1.x ()")
            finally:
                await pool.close()

        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            asyncio.run(write())

    def test_shows_its_name_to_the_database(self, postgres_url: str) -> None:
        async def name() -> str:
            pool = await open_pool(postgres_url, application_name="memledger-projector")
            async with pool.connection() as connection:
                cursor = await connection.execute("SHOW application_name")
                row = await cursor.fetchone()
            await pool.close()
            assert row is not None
            return str(row[0])

        assert asyncio.run(name()) == "memledger-projector"

    def test_of_a_database_that_cannot_be_reached_is_an_error_at_once(self, tmp_path: Path) -> None:
        nowhere = f"host={tmp_path} user=nobody dbname=none"
        for row_security in (True, False):
            with pytest.raises(psycopg.OperationalError):
                asyncio.run(open_pool(nowhere, row_security=row_security, timeout_seconds=0.2))


class TestEnsureDatabase:
    def test_makes_one_that_is_missing_once(
        self, postgres: EmbeddedPostgres, postgres_url: str
    ) -> None:
        name = f"made_{uuid4().hex}"
        url = make_conninfo(postgres.superuser_url(), dbname=name)

        async def together() -> list[bool]:
            return await asyncio.gather(*(ensure_database(url) for _ in range(4)))

        assert sum(asyncio.run(together())) == 1
        assert not asyncio.run(ensure_database(url))
        assert not asyncio.run(ensure_database(postgres_url))
        with psycopg.connect(url) as connection:
            row = connection.execute("SHOW server_encoding").fetchone()
        assert row == ("UTF8",)
        with psycopg.connect(postgres.superuser_url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())

    def test_says_what_to_do_where_the_login_may_not(self, postgres_url: str) -> None:
        url = make_conninfo(postgres_url, dbname=f"not_made_{uuid4().hex}")
        with pytest.raises(ConfigurationError, match=r"may not create it.*CREATEDB"):
            asyncio.run(ensure_database(url))

    def test_says_why_a_server_refuses_and_never_the_password(self, postgres_url: str) -> None:
        url = make_conninfo(postgres_url, user="stranger", password="hush-hush")
        with pytest.raises(ConfigurationError, match="stranger") as caught:
            asyncio.run(ensure_database(url))
        assert "hush" not in str(caught.value)


async def visible(url: str) -> tuple[str, int, int]:
    """Return the acting role, and the notes it sees before and after naming their subject."""
    subject = uuid4()
    pool = await open_pool(url, schema="g1")
    async with pool.connection() as connection:
        name = "SELECT set_config('memledger.subject', %s, false)"
        await connection.execute(name, (str(subject),))
        await connection.execute("INSERT INTO notes (subject) VALUES (%s)", (subject,))
        counts = []
        for named in ("", str(subject)):
            await connection.execute(name, (named,))
            cursor = await connection.execute("SELECT current_user, count(*) FROM notes")
            row = await cursor.fetchone()
            assert row is not None
            counts.append(row)
    await pool.close()
    return counts[0][0], counts[0][1], counts[1][1]
