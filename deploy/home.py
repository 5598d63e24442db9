"""The home directory of a pipeline on this machine: where its stores, keys, logs and state lie."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import to_jsonable_python

from deploy.embedded.directories import write_private
from schemas.errors import ConfigurationError

_OPEN_TO_WALK: Final = 0o755
_CLOSED: Final = 0o700


class ChildState(BaseModel):
    """A process that the supervisor started.

    Attributes:
        name: ``gateway``, ``worker-1``, ``projector``.
        pid: its process id.
        started_at: its start time in seconds since 1970; with the pid it names one process for
            ever, since a pid alone is used again.
        url: where its ``/healthz``, ``/readyz`` and ``/metrics`` answer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    pid: int
    started_at: float
    url: str


class RunState(BaseModel):
    """What runs under a home, written by the supervisor whenever it changes.

    Attributes:
        supervisor_pid: the supervisor that wrote this; what a killed one left says nothing of what
            another is starting.
        settings: the settings that every process was started with and that a verb needs too, as in
            :data:`SHARED_SETTINGS`.
        database_url: the read model's database.
        keyring_url: the keyring's database.
        kafka_bootstrap: the broker.
        embedded_postgres: whether it is ours to stop.
        broker: which broker is ours to stop; ``given`` is not.
        gateway_url: the HTTP API.
        children: the processes it keeps running.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    supervisor_pid: int
    settings: dict[str, Any]
    database_url: str = Field(repr=False)
    keyring_url: str = Field(repr=False)
    kafka_bootstrap: str
    embedded_postgres: bool
    broker: Literal["given", "kafka", "trial"]
    gateway_url: str
    children: tuple[ChildState, ...]


SHARED_SETTINGS: Final = (
    "partitions",
    "generation",
    "embedder",
    "embedder_model",
    "embedder_dimension",
    "embedder_base_url",
    "key_directory",
    "recall_min_similarity",
    "recall_policies",
    "tokenizer",
)
"""What a verb must have in common with the processes of the pipeline that it works on."""


@dataclass(frozen=True, slots=True)
class Home:
    """The paths below a home directory.

    Attributes:
        root: the directory itself; Postgres' own user must be able to walk through it.
    """

    root: Path

    @property
    def postgres(self) -> Path:
        """The embedded Postgres."""
        return self.root / "postgres"

    @property
    def broker(self) -> Path:
        """The embedded broker."""
        return self.root / "kafka"

    @property
    def trial_broker(self) -> Path:
        """The broker of a trial, whose log is not in here."""
        return self.root / "trial-broker"

    @property
    def log_mark_file(self) -> Path:
        """Which log the read model under this home belongs to."""
        return self.root / "log.json"

    @property
    def logs(self) -> Path:
        """One log file for each process."""
        return self.root / "logs"

    @property
    def run(self) -> Path:
        """State of what runs now; closed to others, since it holds passwords."""
        return self.root / "run"

    @property
    def state_file(self) -> Path:
        """What runs now."""
        return self.run / "state.json"

    @property
    def supervisor_file(self) -> Path:
        """Who holds this home; written before anything is started."""
        return self.run / "supervisor.json"

    @property
    def lock_file(self) -> Path:
        """Held by the supervisor as long as it lives."""
        return self.run / "supervisor.lock"

    @property
    def api_key_file(self) -> Path:
        """The API key of the local tenant."""
        return self.run / "api-key"

    def make(self) -> Self:
        """Make the directories that are missing.

        Raises:
            ConfigurationError: they cannot be made or written.
        """
        try:
            self.root.mkdir(parents=True, exist_ok=True, mode=_OPEN_TO_WALK)
            for directory in (self.logs, self.run):
                directory.mkdir(exist_ok=True, mode=_CLOSED)
            probe = self.run / ".writable"
            probe.write_bytes(b"")
            probe.unlink()
        except OSError as error:
            raise self._unwritable(error) from None
        return self

    def _unwritable(self, error: OSError) -> ConfigurationError:
        return ConfigurationError(
            f"{self.root} cannot be written ({error.strerror}): free or remount the disk, or "
            "set MEMLEDGER_HOME to a directory that can"
        )

    def _remove(self, file: Path) -> None:
        # Asked first: on a read-only disk, what is not there cannot be removed either.
        if not file.exists():
            return
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise self._unwritable(error) from None

    def read_state(self) -> RunState | None:
        """Return what was last said to run here, or ``None``; its processes may be gone."""
        try:
            return RunState.model_validate_json(self.state_file.read_bytes())
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PermissionError:
            raise ConfigurationError(
                f"{self.state_file} belongs to another user: run the command as that user"
            ) from None
        except ValidationError:
            raise ConfigurationError(
                f"{self.state_file} was written by another version: stop that version's processes "
                "and remove the file"
            ) from None

    def write_state(self, state: RunState) -> None:
        """Replace the state file at once, readable by its owner only."""
        write_private(self.state_file, state.model_dump_json(indent=2))

    def forget_state(self) -> None:
        """Remove the state file.

        Raises:
            ConfigurationError: it cannot be removed.
        """
        self._remove(self.state_file)

    def read_supervisor(self) -> ChildState | None:
        """Return the supervisor that last held this home; it may be gone."""
        try:
            return ChildState.model_validate_json(self.supervisor_file.read_bytes())
        except (FileNotFoundError, NotADirectoryError, ValidationError):
            return None

    def write_supervisor(self, supervisor: ChildState) -> None:
        """Say who holds this home, before anything is started."""
        write_private(self.supervisor_file, supervisor.model_dump_json())

    def forget_supervisor(self) -> None:
        """Say that nobody holds this home.

        Raises:
            ConfigurationError: it cannot be said.
        """
        self._remove(self.supervisor_file)


def disk_use_bytes(directory: Path) -> int:
    """Return the bytes that the files below a directory occupy; files that vanish count as 0."""
    total = 0
    for base, _, names in os.walk(directory, onerror=lambda _: None):
        for name in names:
            try:
                total += (Path(base) / name).lstat().st_blocks * 512
            except OSError:
                continue
    return total


def _as_http_does(value: object) -> object:
    # Pydantic writes the answers of the HTTP API too: a time reads the same in both.
    return to_jsonable_python(value, fallback=str)


def dump_json(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """Return a value as JSON for a terminal or a pipe; times as the HTTP API writes them."""
    text = json.dumps(value, indent=2, ensure_ascii=False, default=_as_http_does)
    # A lone surrogate, which an import repeats when it refuses it, has no bytes: it is escaped.
    return text.encode("utf-8", "backslashreplace").decode()
