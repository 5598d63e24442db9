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


@pytest.mark.parametrize(
    ("variable", "told", "message"),
    [
        ("GATEWAY_PORT", "99999", "is too large: give 0 to 65535, or leave it out for 8765"),
        ("GATEWAY_PORT", "http", "is not a whole number: give one, or leave it out for 8765"),
        ("WINDOW_MAX", "0", "is too small: give 1 or more, or leave it out for 1000"),
        ("EXTRACT_TIMEOUT_S", "0", "is too small: give more than 0.0, or leave it out for 120.0"),
        ("EXTRACT_TIMEOUT_S", "soon", "is not a number: give one, or leave it out for 120.0"),
        ("RECALL_MIN_SIMILARITY", "7", "is too large: give -1 to 1, or leave it out"),
        ("BROKER", "other", "is none of its values: give 'kafka' or 'trial'"),
        ("EMBEDDER_MODEL", "", "is empty: give a value, or leave it out for text-embedding-3-sm"),
        ("EXTRACTOR_BASE_URL", "localhost:8000", "give it in the form https://host:port/path"),
        ("EMBEDDER_BASE_URL", "localhost:8000", "give it in the form https://host:port/path"),
        ("EXTRACTOR_BASE_URL", "http://[", "give it in the form https://host:port/path"),
        ("REPLICATION", "0", "give 1 to 16, or -1 for the broker's own default"),
    ],
)
def test_a_setting_that_cannot_be_used_is_told_with_what_to_give(
    variable: str, told: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"MEMLEDGER_{variable}", told)
    with pytest.raises(ConfigurationError) as refused:
        Settings.from_environment()
    assert str(refused.value).startswith(f"MEMLEDGER_{variable}: {message}")


def test_every_number_among_the_settings_is_refused_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    numbers = [name for name, field in Settings.model_fields.items() if field.annotation is int]
    assert len(numbers) > 5
    for name in numbers:
        monkeypatch.setenv(f"MEMLEDGER_{name.upper()}", "-99")
        with pytest.raises(ConfigurationError, match=r"give (-?\d+ to \d+|\d+ or more)"):
            Settings.from_environment()
        monkeypatch.delenv(f"MEMLEDGER_{name.upper()}")
