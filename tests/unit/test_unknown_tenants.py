"""A tenant of the limits that there is not is told, and keeps nobody from working."""

from __future__ import annotations

import asyncio

import pytest

from deploy.unknown_tenants import warn_of_unknown_tenants
from schemas.errors import KeyringUnavailable, UnknownTenant


class _Tenants:
    def __init__(self, *known: str, away: bool = False) -> None:
        self._known = known
        self._away = away

    async def require_tenant(self, name: str) -> None:
        if self._away:
            raise KeyringUnavailable("down")
        if name not in self._known:
            raise UnknownTenant(f"there is no tenant {name!r}")


def test_a_misspelt_tenant_is_named_and_a_known_one_is_not(
    caplog: pytest.LogCaptureFixture,
) -> None:
    named = ["acme", "amce"]
    asyncio.run(warn_of_unknown_tenants("MEMLEDGER_BUDGETS", named, _Tenants("acme")))
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert "'amce'" in record.getMessage()
    assert "MEMLEDGER_BUDGETS" in record.getMessage()


def test_a_keyring_that_cannot_be_asked_is_no_unknown_tenant() -> None:
    with pytest.raises(KeyringUnavailable):
        asyncio.run(warn_of_unknown_tenants("V", ["acme"], _Tenants(away=True)))


def test_where_no_tenant_is_named_nobody_is_asked_for() -> None:
    asyncio.run(warn_of_unknown_tenants("V", [], _Tenants(away=True)))
