"""Which log the read model of a home belongs to: one that lasts, or one of the trial broker's.

A log in memory is gone when its broker ends, while Postgres keeps what was projected from it. So a
home is of one kind for ever, and says of which log its read model is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from deploy.embedded.broker_settings import LOG_DIRECTORY
from deploy.embedded.directories import write_private
from deploy.home import Home
from deploy.prepare import drop_read_models, holds_read_models
from schemas.errors import ConfigurationError
from schemas.settings import Settings

TRIAL_NOTE: Final = "trial broker, memory only: the log is lost when it stops"
"""What everybody is told who starts or looks at a trial."""


class LogMark(BaseModel):
    """Which log the read model under a home was projected from.

    Attributes:
        lasting: whether it outlives its broker's process.
        log_id: which of the trial broker's logs; a lasting one has no successor to tell it from.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    lasting: bool
    log_id: str | None = None

    @classmethod
    def of(cls, home: Home) -> Self | None:
        """Return the mark of a home, or ``None`` where none was made yet.

        Raises:
            ConfigurationError: the file cannot be read.
        """
        try:
            return cls.model_validate_json(home.log_mark_file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            # A broker that was started by itself has a log before there is a mark.
            return cls(lasting=True) if (home.broker / LOG_DIRECTORY).exists() else None
        except (OSError, ValidationError):
            raise ConfigurationError(
                f"{home.log_mark_file} cannot be read: restore it, or begin with another "
                "MEMLEDGER_HOME"
            ) from None

    def write(self, home: Home) -> None:
        """Mark a home."""
        write_private(home.log_mark_file, self.model_dump_json())


def take_up_trial_log(
    home: Home, log_id: str | None, database_url: str, announce: Callable[[str], None]
) -> None:
    """Mark a home with a log of the trial broker's; drop the read model of the log before.

    Args:
        home: what is marked.
        log_id: which log.
        database_url: the embedded read model's database; nobody is connected to it.
        announce: told where something is dropped.

    Raises:
        ConfigurationError: there is a read model and no mark that says of which log; it is kept.
        ReadModelUnavailable: Postgres refused.
    """
    mark = LogMark(lasting=False, log_id=log_id)
    before = LogMark.of(home)
    if before is None and holds_read_models(database_url):
        raise ConfigurationError(
            f"{home.root} holds a read model, and nothing says of which log, so that it is not "
            "dropped for a trial's: leave --broker trial out, or begin the trial with another "
            "MEMLEDGER_HOME"
        )
    if before not in (None, mark):
        announce(
            "the log of before is gone with the trial broker that held it: the read model of "
            "it is dropped and everything begins anew; the keyring stays"
        )
        drop_read_models(database_url)
    # Only now: whoever is stopped in between drops it again.
    mark.write(home)


def require_fitting_broker(settings: Settings, home: Home) -> None:
    """Refuse a broker of the other kind than the home's log, before anything is started.

    Raises:
        ConfigurationError: the settings ask for what does not go together.
    """
    mark = LogMark.of(home)
    if settings.broker != "trial":
        if mark is not None and not mark.lasting:
            raise ConfigurationError(
                f"{home.root} is the home of a trial, whose log is not kept: go on with "
                "--broker trial, or begin with another MEMLEDGER_HOME"
            )
        return
    if settings.kafka_bootstrap is not None:
        raise ConfigurationError(
            "KAFKA_BOOTSTRAP names a broker and the trial broker is asked for: unset it, or leave "
            "--broker trial out"
        )
    if settings.database_url is not None:
        raise ConfigurationError(
            "a trial drops its read model when its log is gone, which is not done in a database of "
            "yours: unset DATABASE_URL, or leave --broker trial out"
        )
    if mark is not None and mark.lasting:
        raise ConfigurationError(
            f"the log under {home.root} lasts, that of the trial broker does not: leave --broker "
            "trial out, or begin the trial with another MEMLEDGER_HOME"
        )
