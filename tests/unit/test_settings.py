"""Settings are read from the environment, or refused by the name of the variable."""

from __future__ import annotations

import pytest

from schemas.errors import ConfigurationError
from schemas.settings import Settings
from schemas.topics import BROKERS_REPLICATION


@pytest.mark.parametrize("told", ["0", "-2", "17"])
def test_a_replication_that_no_broker_can_hold_is_refused(
    told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLEDGER_REPLICATION", told)
    with pytest.raises(ConfigurationError, match="MEMLEDGER_REPLICATION"):
        Settings.from_environment()


def test_the_replication_is_the_brokers_unless_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLEDGER_REPLICATION", raising=False)
    assert Settings.from_environment().replication == BROKERS_REPLICATION
    monkeypatch.setenv("MEMLEDGER_REPLICATION", "3")
    assert Settings.from_environment().replication == 3
