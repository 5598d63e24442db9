"""Where the stores of a pipeline are: given by the environment, or embedded under a home."""

from __future__ import annotations

from dataclasses import dataclass, field

import psycopg
from psycopg.conninfo import make_conninfo

from deploy.embedded.trial_broker import is_trial_broker
from deploy.home import SHARED_SETTINGS, Home, RunState
from schemas.errors import ConfigurationError
from schemas.settings import Settings

KEYRING_DATABASE = "memledger_keyring"


@dataclass(frozen=True, kw_only=True, slots=True)
class Addresses:
    """Where the stores are.

    Attributes:
        database_url: connection string of the read model's database, as libpq reads it.
        keyring_url: the same of the keyring's database.
        kafka_bootstrap: ``host:port[,host:port]``.
        trial_broker: whether that is the trial broker, which takes the first record of a batch for
            a partition's end: whoever appends must send each record by itself.
    """

    database_url: str = field(repr=False)
    keyring_url: str = field(repr=False)
    kafka_bootstrap: str
    trial_broker: bool = False


def running_settings() -> Settings:
    """Return the settings from the environment, filled up with those of the running pipeline.

    A verb in a new shell so works on the pipeline as it was started. Where the environment names
    both stores, it speaks of a pipeline elsewhere, and nothing is filled up.

    Raises:
        ConfigurationError: a variable cannot be used.
    """
    settings = Settings.from_environment()
    if settings.database_url is not None and settings.kafka_bootstrap is not None:
        return settings
    state = Home(settings.home).read_state()
    if state is None:
        return settings
    shared = Settings.model_validate(state.settings)
    return settings.model_copy(
        update={
            name: getattr(shared, name)
            for name in SHARED_SETTINGS
            if name not in settings.model_fields_set
        }
    )


def resolve(settings: Settings) -> Addresses:
    """Return the stores of the pipeline that these settings speak of.

    The environment wins; what it leaves out is taken from the pipeline that runs under the home.

    Raises:
        ConfigurationError: neither tells.
    """
    state = None
    if settings.database_url is None or settings.kafka_bootstrap is None:
        state = Home(settings.home).read_state()
        if state is None:
            raise ConfigurationError(
                f"nothing runs under {settings.home}: start it with `memledger up --detach`, or "
                "set DATABASE_URL and KAFKA_BOOTSTRAP to a pipeline elsewhere"
            )
    database_url = settings.database_url or (state.database_url if state else "")
    return Addresses(
        database_url=database_url,
        keyring_url=settings.keyring_url
        or (keyring_beside(database_url) if settings.database_url else "")
        or (state.keyring_url if state else ""),
        kafka_bootstrap=settings.kafka_bootstrap or (state.kafka_bootstrap if state else ""),
        trial_broker=_is_trial_broker(settings, state),
    )


def _is_trial_broker(settings: Settings, state: RunState | None) -> bool:
    runs_here = state is not None and state.broker == "trial"
    if settings.kafka_bootstrap is None:
        return runs_here
    # The setting says what `up` embeds, and may stand beside a broker of another kind. One that
    # does not answer now is taken for what was said: small batches are slow, but never wrong.
    said = runs_here or settings.broker == "trial"
    return said and is_trial_broker(settings.kafka_bootstrap) is not False


def keyring_beside(database_url: str) -> str:
    """Return where the keyring's database is on the server of the read model.

    Args:
        database_url: any connection string of libpq's.

    Returns:
        A connection string of the form ``key=value``.

    Raises:
        ConfigurationError: it is no connection string.
    """
    try:
        return make_conninfo(database_url, dbname=KEYRING_DATABASE)
    except psycopg.ProgrammingError:
        # What libpq says may repeat a part of the password.
        raise ConfigurationError(
            "DATABASE_URL: give it in the form postgresql://user:password@host:port/database"
        ) from None
