"""A tenant of the settings that there is not is told, and keeps nobody from working."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deploy.processes.gateway import warn_of_tenants
from deploy.unknown_tenants import warn_of_unknown_tenants
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


def test_the_gateway_looks_at_every_file_of_its_own_that_names_tenants(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rates, policies = tmp_path / "rates.toml", tmp_path / "policies.toml"
    rates.write_text("[tenants.acme]\nrequests_per_s = 5\n[tenants.rated]\nrequests_per_s = 5\n")
    policies.write_text('[tenants]\nacme = "gated"\nserved = "weighted"\n')
    settings = Settings(rate_limits=rates, recall_policies=policies)
    asyncio.run(warn_of_tenants(settings, _Tenants("acme")))
    told = [record.getMessage() for record in caplog.records]
    assert [("'rated'" in one, "MEMLEDGER_RATE_LIMITS" in one) for one in told] == [
        (True, True),
        (False, False),
    ]
    assert "'served'" in told[1]
    assert "MEMLEDGER_RECALL_POLICIES" in told[1]
