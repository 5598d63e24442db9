"""Settings are read from the environment, or refused by the name of the variable."""

from __future__ import annotations

from pathlib import Path

import pytest

from projections.embedders import make_embedder
from schemas.errors import ConfigurationError
from schemas.settings import EMBEDDER_MODEL_BYTES_MAX, Settings, default_home
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


def test_there_is_room_for_one_request_at_least(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLEDGER_REQUEST_BYTES_MAX", "100000000")
    with pytest.raises(
        ConfigurationError,
        match=r"^MEMLEDGER_REQUEST_BYTES_HELD_MAX: .*at least MEMLEDGER_REQUEST_BYTES_MAX",
    ):
        Settings.from_environment()
    monkeypatch.setenv("MEMLEDGER_REQUEST_BYTES_HELD_MAX", "100000000")
    assert Settings.from_environment().request_bytes_held_max == 100_000_000


@pytest.mark.parametrize("letter", ["m", "é", "模"])
def test_a_models_name_is_bounded_in_bytes_so_that_it_fits_into_the_index(
    monkeypatch: pytest.MonkeyPatch, letter: str
) -> None:
    longest = letter * (EMBEDDER_MODEL_BYTES_MAX // len(letter.encode()))
    monkeypatch.setenv("MEMLEDGER_EMBEDDER", "openai")
    monkeypatch.setenv("MEMLEDGER_EMBEDDER_API_KEY", "key")
    monkeypatch.setenv("MEMLEDGER_EMBEDDER_DIMENSION", "4000")
    monkeypatch.setenv("MEMLEDGER_RECALL_MIN_SIMILARITY", "0.5")
    monkeypatch.setenv("MEMLEDGER_EMBEDDER_MODEL", longest)
    assert len(make_embedder(Settings.from_environment()).name.encode()) <= 200

    monkeypatch.setenv("MEMLEDGER_EMBEDDER_MODEL", longest + letter)
    with pytest.raises(ConfigurationError, match=r"MEMLEDGER_EMBEDDER_MODEL: .* bytes in UTF-8"):
        Settings.from_environment()


def test_an_empty_home_counts_as_unset_and_a_relative_one_is_made_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MEMLEDGER_HOME", "")
    monkeypatch.setenv("MEMLEDGER_KEY_DIRECTORY", "")
    settings = Settings.from_environment()
    assert settings.home == default_home()
    assert settings.keys_home == default_home() / "keys"

    monkeypatch.setenv("MEMLEDGER_HOME", "below")
    monkeypatch.setenv("MEMLEDGER_KEY_DIRECTORY", "keys")
    settings = Settings.from_environment()
    assert (settings.home, settings.keys_home) == (tmp_path / "below", tmp_path / "keys")
