"""Settings, read from the environment; every process of a pipeline reads the same ones."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal, Self
from urllib.parse import urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from pydantic import Field, ValidationError, ValidationInfo, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, SettingsConfigDict

from schemas.errors import ConfigurationError
from schemas.setting_problems import problem_of
from schemas.topics import BROKERS_REPLICATION, RECALLS_DAYS, checked_generation

DEFAULT_TENANT = "local"

EMBEDDER_MODEL_BYTES_MAX: Final = 195
"""Most bytes of a model's name in UTF-8. An embedder's name adds a colon and up to four digits, and
at most 200 bytes of it fit beside a vector into an entry of the index that recall reads."""


def default_home() -> Path:
    """Return where the embedded stores, keys and logs of this machine live.

    Under root it is a system directory, since Postgres then runs as another user who must be able
    to walk there, which a home directory that is closed to others forbids.
    """
    if os.geteuid() == 0:
        return Path("/var/lib/memledger")
    data_home = os.environ.get("XDG_DATA_HOME")
    base = Path(data_home) if data_home else Path.home() / ".local" / "share"
    return base / "memledger"


class Settings(BaseSettings):
    """The settings of one process.

    Each is read from the environment under ``MEMLEDGER_`` and its name in capitals, but for
    ``DATABASE_URL`` and ``KAFKA_BOOTSTRAP``, which are read as they are: set, they win over the
    embedded stores.

    Attributes:
        home: directory of the embedded stores, the key directory, logs and state; made absolute,
            and the default where it is empty.
        database_url: libpq URL (or key=value string) of the read model's database; ``None`` means
            the embedded one.
        kafka_bootstrap: ``host:port[,host:port]``; ``None`` means the embedded broker.
        postgres_cache_mb: the cache of the embedded Postgres (``shared_buffers``), in MiB.
        broker: which broker is embedded: ``kafka``, or ``trial``, whose log does not last.
        keyring_url: the same of the keyring's own database; ``None`` means the database
            ``memledger_keyring`` on the read model's server.
        key_directory: where the epoch keys lie, outside Postgres; ``None`` means ``home/keys``.
        partitions: number of partitions of each topic when it is made.
        replication: how many brokers hold each partition of a topic when it is made; -1 leaves it
            to the broker's ``default.replication.factor``.
        generation: the generation that is written and served.
        extractor: ``rules``, ``verbatim``, ``anthropic``, ``openai``, or ``package.module:factory``
            of one of your own.
        extractor_model, extractor_base_url, extractor_api_key: for ``anthropic`` and ``openai``.
        extractor_call_timeout_s: deadline of one request of theirs.
        extractor_keep_assistant_statements: whether they may keep what the assistant told the user,
            as an episode that says so.
        embedder: ``minilm``, ``hash`` (no meaning, for tests and benches) or ``openai``.
        embedder_model, embedder_dimension, embedder_base_url, embedder_api_key: for ``openai``.
        embedder_same_statement_similarity: the cosine of the model of ``openai`` below which two
            statements never count as the same one in other words; ``None``: they never do.
        embedder_timeout_s: deadline of one call of ``openai``, retries included.
        in_flight_max: most turns a worker has in the extractor at once.
        window_max: most turns of one partition that a worker holds; it is not read further beyond.
        extract_attempts_max: how often an extraction is tried before the turn is dead-lettered.
        extract_timeout_s: deadline of one attempt.
        extraction_mode: when the extractor is asked: for each ``turn``, at the end of a chat
            ``session``, or ``hybrid``: at once for what the user asks to be remembered or
            forgotten, else at the end.
        session_idle_s: after how long without a turn a chat session counts as over.
        session_summaries: whether the end of a session brings a summary of it, where the extractor
            makes any: one call of the model more.
        prices: a TOML file of what models cost; ``None`` where no price is known.
        budgets: a TOML file of what each tenant may spend; ``None`` for no limits.
        mcp: whether the gateway serves the MCP server at ``/mcp``.
        rate_limits: a TOML file of how much each tenant may ask of one gateway; ``None`` for no
            limits.
        consolidate_episodes_min: how many episodes of a quiet user start a consolidation, where the
            extractor can do one; 0 for never.
        session_timeout_s: how long the broker waits for a silent worker before it hands its
            partitions over.
        gateway_host, gateway_port: where the HTTP API listens.
        worker_port, projector_port: where their ``/healthz``, ``/readyz``, ``/metrics`` listen; 0
            picks a free one.
        request_bytes_max: most bytes of one request that brings turns.
        request_bytes_held_max: most bytes of all such requests that are in work at one time.
        recall_min_similarity: absolute cosine threshold of recall; ``None`` takes the embedder's.
        recall_policies: a TOML file of how memories are chosen, and for which tenant; ``None`` for
            the default that ships.
        tokenizer: a ``tokenizer.json`` that counts the notes' tokens; ``None`` for an estimate.
        recalls_days: for how many days it is kept what recalls served, without its words; also the
            retention of its topic when that is made.
    """

    # Addresses and keys hold secrets: neither a repr nor a refusal repeats them.
    model_config = SettingsConfigDict(
        env_prefix="MEMLEDGER_", extra="ignore", frozen=True, hide_input_in_errors=True
    )

    home: Path = Field(default_factory=default_home)
    database_url: str | None = Field(default=None, validation_alias="DATABASE_URL", repr=False)
    kafka_bootstrap: str | None = Field(default=None, validation_alias="KAFKA_BOOTSTRAP")
    postgres_cache_mb: int = Field(default=256, ge=16, le=1024 * 1024)
    broker: Literal["kafka", "trial"] = "kafka"
    keyring_url: str | None = Field(default=None, repr=False)
    key_directory: Path | None = None
    partitions: int = Field(default=8, ge=1, le=1024)
    replication: int = Field(default=BROKERS_REPLICATION, ge=BROKERS_REPLICATION, le=16)
    generation: str = "g1"
    extractor: str = "rules"
    extractor_model: str | None = Field(default=None, min_length=1)
    extractor_base_url: str | None = Field(default=None, min_length=1)
    extractor_api_key: str | None = Field(default=None, repr=False, min_length=1)
    extractor_call_timeout_s: float = Field(default=45.0, ge=0.1, le=600)
    extractor_keep_assistant_statements: bool = False
    embedder: str = "minilm"
    embedder_model: str = Field(default="text-embedding-3-small", min_length=1)
    embedder_dimension: int = Field(default=384, ge=1, le=4000)
    embedder_base_url: str | None = None
    embedder_api_key: str | None = Field(default=None, repr=False)
    embedder_same_statement_similarity: float | None = Field(default=None, ge=-1, le=1)
    embedder_timeout_s: float = Field(default=10.0, ge=0.1, le=600)
    in_flight_max: int = Field(default=300, ge=1)
    window_max: int = Field(default=1000, ge=1)
    extract_attempts_max: int = Field(default=3, ge=1, le=10)
    extract_timeout_s: float = Field(default=120.0, gt=0)
    extraction_mode: Literal["turn", "session", "hybrid"] = "turn"
    session_idle_s: float = Field(default=1800.0, ge=1, le=30 * 86400)
    session_summaries: bool = True
    prices: Path | None = None
    budgets: Path | None = None
    rate_limits: Path | None = None
    mcp: bool = False
    consolidate_episodes_min: int = Field(default=20, ge=0)
    session_timeout_s: float = Field(default=30.0, ge=6)
    gateway_host: str = "127.0.0.1"
    gateway_port: int = Field(default=8765, ge=0, le=65535)
    worker_port: int = Field(default=0, ge=0, le=65535)
    projector_port: int = Field(default=0, ge=0, le=65535)
    request_bytes_max: int = Field(default=8 * 1024 * 1024, ge=1024)
    request_bytes_held_max: int = Field(default=64 * 1024 * 1024, ge=1024)
    recall_min_similarity: float | None = Field(default=None, ge=-1, le=1)
    recall_policies: Path | None = None
    tokenizer: Path | None = None
    recalls_days: int = Field(default=RECALLS_DAYS, ge=1, le=3650)

    @field_validator("home", mode="before")
    @classmethod
    def _empty_home_counts_as_unset(cls, value: object) -> object:
        return default_home() if value == "" else value

    @field_validator(
        *("key_directory", "prices", "budgets", "rate_limits", "recall_policies", "tokenizer"),
        mode="before",
    )
    @classmethod
    def _empty_path_counts_as_unset(cls, value: object) -> object:
        return None if value == "" else value

    @field_validator(
        *("home", "key_directory", "prices", "budgets", "rate_limits"),
        *("recall_policies", "tokenizer"),
    )
    @classmethod
    def _same_from_every_directory(cls, value: Path | None) -> Path | None:
        return None if value is None else value.absolute()

    @field_validator("generation")
    @classmethod
    def _generation_can_name_topics(cls, value: str) -> str:
        try:
            return checked_generation(value)
        except ConfigurationError as error:
            raise ValueError(str(error)) from None

    @field_validator("embedder_model")
    @classmethod
    def _name_fits_beside_a_vector(cls, value: str) -> str:
        length = len(value.encode())
        if length > EMBEDDER_MODEL_BYTES_MAX:
            raise ValueError(
                f"the name has {length} bytes in UTF-8: give one of at most "
                f"{EMBEDDER_MODEL_BYTES_MAX}, as an alias on the server"
            )
        return value

    @field_validator("extractor_base_url", "embedder_base_url")
    @classmethod
    def _address_names_a_server(cls, value: str | None) -> str | None:
        if value:
            try:
                parts = urlsplit(value)
                usable = parts.scheme in ("http", "https") and bool(parts.hostname)
            except ValueError:
                usable = False
            if not usable:
                raise ValueError("give it in the form https://host:port/path")
        return value

    @field_validator("replication")
    @classmethod
    def _replication_is_a_number_of_brokers(cls, value: int) -> int:
        if value == 0:
            raise ValueError("give 1 to 16, or -1 for the broker's own default")
        return value

    @field_validator("request_bytes_held_max")
    @classmethod
    def _room_for_one_request(cls, value: int, info: ValidationInfo) -> int:
        one = info.data.get("request_bytes_max", 0)
        if value < one:
            raise ValueError(
                f"give at least MEMLEDGER_REQUEST_BYTES_MAX, which is {one}: else no request of "
                "that size is ever taken"
            )
        return value

    @field_validator("database_url", "keyring_url")
    @classmethod
    def _libpq_reads_the_address(cls, value: str | None) -> str | None:
        if value is not None:
            try:
                readable = bool(conninfo_to_dict(value))
            except psycopg.ProgrammingError:
                # What libpq says may repeat a part of the password.
                readable = False
            if not readable:
                raise ValueError(
                    "give it in the form postgresql://user:password@host:port/database"
                )
        return value

    @classmethod
    def from_environment(cls) -> Self:
        """Read the settings.

        Raises:
            ConfigurationError: a variable cannot be used; the message names each and why.
        """
        try:
            return cls()
        except ValidationError as error:
            raise ConfigurationError(
                "; ".join(
                    f"{_variable(name)}: {problem_of(detail, _field(name))}"
                    for detail in error.errors(include_url=False, include_input=False)
                    for name in [str(detail["loc"][0])]
                )
            ) from None

    @property
    def keys_home(self) -> Path:
        """The key directory, given or by default."""
        return self.key_directory if self.key_directory is not None else self.home / "keys"


def _field(name: str) -> FieldInfo:
    """Return a setting by its name, or by the variable that it is read from."""
    fields = Settings.model_fields
    return fields[name] if name in fields else fields[name.lower()]


def _variable(name: str) -> str:
    return name if name.isupper() else f"MEMLEDGER_{name.upper()}"
