from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from schemas.database import describe, migrate
from schemas.errors import MigrationError

NOWHERE = "host=/nonexistent dbname=none"


class TestMigrationFiles:
    @pytest.mark.parametrize(
        ("names", "problem"),
        [
            (["1_first.sql"], "0001_what_it_does"),
            (["0001_First.sql"], "0001_what_it_does"),
            (["0002_second.sql"], "without a gap"),
            (["0001_first.sql", "0003_third.sql"], "without a gap"),
            (["0001_first.sql", "0001_other.sql"], "two migrations"),
        ],
    )
    def test_out_of_order_are_refused_before_anything_is_reached(
        self, tmp_path: Path, names: list[str], problem: str
    ) -> None:
        for name in names:
            (tmp_path / name).write_text("SELECT 1;")
        with pytest.raises(MigrationError, match=problem):
            asyncio.run(migrate(NOWHERE, tmp_path))

    @pytest.mark.parametrize(
        "value", ["", "1; DROP TABLE a", "-1", "Upper", "a-b", "1e3", "x" * 64, "a\n"]
    )
    def test_take_only_numbers_and_plain_identifiers(self, tmp_path: Path, value: str) -> None:
        (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (v varchar({size}));")
        with pytest.raises(MigrationError, match="whole number or a plain"):
            asyncio.run(migrate(NOWHERE, tmp_path, parameters={"size": value}))

    def test_need_a_value_for_every_parameter(self, tmp_path: Path) -> None:
        (tmp_path / "0001_first.sql").write_text("CREATE TABLE a (v varchar({size}));")
        with pytest.raises(MigrationError, match="'size'"):
            asyncio.run(migrate(NOWHERE, tmp_path))


def test_description_of_a_database_never_shows_the_password() -> None:
    shown = describe("postgresql://login:hush@db.example:6543/ledger")
    assert "hush" not in shown
    assert "db.example:6543" in shown
    assert "'ledger'" in shown
