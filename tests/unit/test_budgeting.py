"""A tenant of the budgets that there is not is told, and keeps nobody from working."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deploy.budgeting import warn_of_unknown_tenants
from schemas.errors import KeyringUnavailable, UnknownTenant
from schemas.settings import Settings


class _Tenants:
    def __init__(self, *known: str, away: bool = False) -> None:
        self._known = known
        self._away = away

    async def require_tenant(self, name: str) -> None:
        if self._away:
            raise KeyringUnavailable("down")
        if name not in self._known:
            raise UnknownTenant(f"there is no tenant {name!r}")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "budgets.toml"
    path.write_text("[tenants.acme]\ntokens_per_day = 1\n[tenants.amce]\ntokens_per_day = 1\n")
    return Settings(budgets=path)


def test_a_misspelt_tenant_is_named_and_a_known_one_is_not(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(warn_of_unknown_tenants(settings, _Tenants("acme")))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "'amce'" in record.getMessage()
    assert "MEMLEDGER_BUDGETS" in record.getMessage()


def test_a_keyring_that_cannot_be_asked_is_no_unknown_tenant(settings: Settings) -> None:
    with pytest.raises(KeyringUnavailable):
        asyncio.run(warn_of_unknown_tenants(settings, _Tenants(away=True)))


def test_without_a_file_nobody_is_asked_for() -> None:
    asyncio.run(warn_of_unknown_tenants(Settings(), _Tenants(away=True)))
