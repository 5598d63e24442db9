"""Where the stores are: any address that libpq reads, and no secret in what is printed."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from psycopg.conninfo import conninfo_to_dict
from pydantic import ValidationError

from deploy import addresses as module
from deploy.addresses import KEYRING_DATABASE, Addresses, keyring_beside, resolve
from deploy.home import Home, RunState
from schemas.errors import ConfigurationError
from schemas.settings import Settings

SECRET = "hunter2"
URL = f"postgresql://memledger:{SECRET}@db.example:5433/app?sslmode=verify-full"


@pytest.mark.parametrize(
    "address",
    [
        URL,
        f"postgres://memledger:{SECRET}@db.example:5433/app?sslmode=verify-full",
        f"postgresql://memledger:{SECRET}@db.example:5433/?dbname=app&sslmode=verify-full",
        f"host=db.example port=5433 user=memledger password={SECRET} sslmode=verify-full",
        f"host=db.example port=5433 user=memledger password={SECRET} sslmode=verify-full dbname=a",
    ],
    ids=["url", "short scheme", "named in the query", "key=value", "key=value with a name"],
)
def test_the_keyring_is_beside_the_read_model_on_the_same_server(address: str) -> None:
    assert conninfo_to_dict(keyring_beside(address)) == {
        "user": "memledger",
        "password": SECRET,
        "host": "db.example",
        "port": "5433",
        "dbname": KEYRING_DATABASE,
        "sslmode": "verify-full",
    }


def test_the_keyring_is_beside_a_read_model_behind_a_socket() -> None:
    beside = conninfo_to_dict(keyring_beside("postgresql:///d?host=/run/postgresql"))
    assert beside == {"host": "/run/postgresql", "dbname": KEYRING_DATABASE}


@pytest.mark.parametrize(
    "address", [f"mysql://root:{SECRET}@h/d", SECRET, f"password={SECRET} nonsense"]
)
def test_an_address_that_libpq_does_not_read_is_refused_without_its_password(address: str) -> None:
    with pytest.raises(ConfigurationError, match="DATABASE_URL: ") as refused:
        keyring_beside(address)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("variable", ["DATABASE_URL", "MEMLEDGER_KEYRING_URL"])
@pytest.mark.parametrize("address", [f"mysql://root:{SECRET}@h/d", SECRET, ""])
def test_a_setting_that_libpq_does_not_read_is_refused_by_name(
    variable: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, address)
    with pytest.raises(ConfigurationError, match=f"{variable}: .*postgresql://") as refused:
        Settings.from_environment()
    assert SECRET not in str(refused.value)


def test_what_the_environment_names_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", URL)
    monkeypatch.setenv("KAFKA_BOOTSTRAP", "kafka.example:9092")
    monkeypatch.delenv("MEMLEDGER_KEYRING_URL", raising=False)
    addresses = resolve(Settings.from_environment())
    assert addresses.database_url == URL
    assert addresses.kafka_bootstrap == "kafka.example:9092"
    assert conninfo_to_dict(addresses.keyring_url)["dbname"] == KEYRING_DATABASE


def test_nothing_that_is_printed_holds_a_secret(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path))
    monkeypatch.setenv("DATABASE_URL", URL)
    monkeypatch.setenv("MEMLEDGER_KEYRING_URL", URL)
    monkeypatch.setenv("MEMLEDGER_EMBEDDER_API_KEY", SECRET)
    settings = Settings.from_environment()
    assert (settings.database_url, settings.embedder_api_key) == (URL, SECRET)
    addresses = Addresses(database_url=URL, keyring_url=URL, kafka_bootstrap="kafka:9092")
    state = RunState(
        supervisor_pid=1,
        settings={},
        database_url=URL,
        keyring_url=URL,
        kafka_bootstrap="kafka:9092",
        embedded_postgres=False,
        broker="given",
        gateway_url="http://127.0.0.1:8765",
        children=(),
    )
    for held in (settings, addresses, state):
        assert SECRET not in repr(held)
        assert SECRET not in str(held)


def test_a_refusal_of_settings_repeats_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLEDGER_KEYRING_URL", SECRET)
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize("broker", ["kafka", "trial"])
def test_who_appends_is_told_of_a_trial_broker(
    tmp_path: Path, broker: Literal["kafka", "trial"], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "is_trial_broker", lambda _: broker == "trial")
    home = Home(tmp_path).make()
    home.write_state(
        RunState(
            supervisor_pid=1,
            settings={},
            database_url=URL,
            keyring_url=URL,
            kafka_bootstrap="kafka:9092",
            embedded_postgres=True,
            broker=broker,
            gateway_url="http://127.0.0.1:8765",
            children=(),
        )
    )
    trial = broker == "trial"
    # A verb finds it in the home; a process of the pipeline is told in its settings.
    verb = Settings.model_validate({"home": tmp_path})
    process = Settings.model_validate(
        {"home": tmp_path, "broker": broker, "DATABASE_URL": URL, "KAFKA_BOOTSTRAP": "kafka:9092"}
    )
    assert (resolve(verb).trial_broker, resolve(process).trial_broker) == (trial, trial)


@pytest.mark.parametrize(
    ("answer", "taken_for_trial"), [(True, True), (False, False), (None, True)]
)
def test_a_given_broker_is_a_trial_broker_only_where_it_does_not_deny_it(
    tmp_path: Path,
    answer: bool | None,
    taken_for_trial: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "is_trial_broker", lambda _: answer)
    given = {"home": tmp_path, "DATABASE_URL": URL, "KAFKA_BOOTSTRAP": "kafka:9092"}
    said = Settings.model_validate({**given, "broker": "trial"})
    assert resolve(said).trial_broker == taken_for_trial
    # Without that setting, nobody is asked.
    assert not resolve(Settings.model_validate(given)).trial_broker
