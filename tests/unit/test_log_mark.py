"""A home is of one kind for ever: its log lasts, or it is a trial's."""

from __future__ import annotations

from pathlib import Path

import pytest

from deploy.embedded.broker_settings import LOG_DIRECTORY
from deploy.home import Home
from deploy.supervisor.log_mark import LogMark, require_fitting_broker
from schemas.errors import ConfigurationError
from schemas.settings import Settings


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home").make()


def settings(home: Home, **others: object) -> Settings:
    return Settings.model_validate(
        {"home": home.root, "DATABASE_URL": None, "KAFKA_BOOTSTRAP": None, **others}
    )


@pytest.mark.parametrize("broker", ["kafka", "trial"])
def test_a_home_that_holds_nothing_takes_either_broker(home: Home, broker: str) -> None:
    assert LogMark.of(home) is None
    require_fitting_broker(settings(home, broker=broker), home)


@pytest.mark.parametrize("broker", ["kafka", "trial"])
def test_a_home_goes_on_with_the_kind_that_it_began_with(home: Home, broker: str) -> None:
    mark = LogMark(lasting=broker == "kafka", log_id=None if broker == "kafka" else "one")
    mark.write(home)
    assert LogMark.of(home) == mark
    require_fitting_broker(settings(home, broker=broker), home)


def test_a_lasting_log_is_not_given_to_the_trial_broker(home: Home) -> None:
    LogMark(lasting=True).write(home)
    with pytest.raises(ConfigurationError, match="lasts, that of the trial broker does not"):
        require_fitting_broker(settings(home, broker="trial"), home)


def test_a_broker_that_was_started_by_itself_has_a_lasting_log_too(home: Home) -> None:
    (home.broker / LOG_DIRECTORY).mkdir(parents=True)
    with pytest.raises(ConfigurationError, match="lasts"):
        require_fitting_broker(settings(home, broker="trial"), home)


def test_what_a_failed_start_left_is_no_log(home: Home) -> None:
    home.broker.mkdir()
    require_fitting_broker(settings(home, broker="trial"), home)


@pytest.mark.parametrize("given", [{}, {"KAFKA_BOOTSTRAP": "kafka:9092"}])
def test_a_trial_s_home_is_not_given_to_a_lasting_broker(home: Home, given: dict[str, str]) -> None:
    LogMark(lasting=False, log_id="one").write(home)
    with pytest.raises(ConfigurationError, match="--broker trial"):
        require_fitting_broker(settings(home, **given), home)


@pytest.mark.parametrize(
    ("variable", "value"),
    [("KAFKA_BOOTSTRAP", "kafka:9092"), ("DATABASE_URL", "postgresql://db/memledger")],
)
def test_a_trial_takes_no_store_of_another(home: Home, variable: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=variable):
        require_fitting_broker(settings(home, broker="trial", **{variable: value}), home)


def test_a_mark_that_cannot_be_read_is_told(home: Home) -> None:
    home.log_mark_file.write_text("{}")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        require_fitting_broker(settings(home), home)
