"""Policies of recall: data that says how memories are chosen, for each tenant one."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from schemas.errors import ConfigurationError
from schemas.toml_file import read_toml

VARIABLE: Final = "MEMLEDGER_RECALL_POLICIES"
DEFAULT: Final = "gated"

_Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")]
_Weight = Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)]
_Cap = Annotated[int, Field(ge=0, le=100)]
_Importance = Annotated[int, Field(ge=1, le=5)]


class Policy(BaseModel):
    """How memories are chosen and ranked.

    Whatever the policy, only what is near enough to the question is served for it. Of that, a
    memory's rank is the sum of what it is weighed by.

    Attributes:
        relevance_weight: what relevance counts for: meaning and words blended, 0 to 1.
        recency_weight: what recency counts for: an episode's by its age, a fact's always 1. Where
            it is 0, an episode's relevance itself fades with its age.
        episode_half_life_days: after how many days an episode's recency is a half.
        recency_a_day: what is left of an episode's recency after each day, instead of a half-life.
        importance_weight: what importance counts for, as a share of 5.
        importance_step: what each step of importance above 1 adds.
        pinned_importance: the importance of what is pinned; without it, its own.
        words_share: the share of a question's matter that a memory's words must cover to be served
            without being near in meaning; above 1 they never are enough.
        pins, safety, rules: most memories of each sort that are served whatever is asked: what a
            person pinned, what is of the highest importance for the user's safety, and how the
            assistant should behave.
        always_share: the share of the budget that these may take as long as the question brings
            more than the rest holds.
        budget_tokens: the most tokens of the block of notes, where the question names none.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    relevance_weight: _Weight = 1.0
    recency_weight: _Weight = 0.0
    episode_half_life_days: float | None = Field(default=None, gt=0, le=36_500)
    recency_a_day: float | None = Field(default=None, gt=0, le=1)
    importance_weight: _Weight = 0.0
    importance_step: _Weight = 0.0
    pinned_importance: _Importance | None = None
    words_share: float = Field(default=0.5, gt=0, le=2, allow_inf_nan=False)
    pins: _Cap = 10
    safety: _Cap = 10
    rules: _Cap = 10
    always_share: float = Field(default=0.6, gt=0, le=1)
    budget_tokens: int = Field(default=2_000, ge=1, le=1_000_000)

    @model_validator(mode="after")
    def _one_way_to_age(self) -> Self:
        if self.episode_half_life_days is not None and self.recency_a_day is not None:
            raise ValueError(
                "episode_half_life_days and recency_a_day say the same in two ways: give one"
            )
        return self

    @property
    def fading_a_day(self) -> float:
        """What is left of an episode's recency after each day; 1 where age does not count."""
        if self.episode_half_life_days is not None:
            return float(0.5 ** (1 / self.episode_half_life_days))
        return 1.0 if self.recency_a_day is None else self.recency_a_day


class PolicyFile(BaseModel):
    """What a file of policies holds.

    Attributes:
        default: the policy of tenants that are not named.
        policies: each under its name; besides those that ship.
        tenants: the name of each tenant's policy.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: _Name = DEFAULT
    policies: Mapping[_Name, Policy] = Field(default_factory=lambda: MappingProxyType({}))
    tenants: Mapping[str, _Name] = Field(default_factory=lambda: MappingProxyType({}))


class Policies:
    """The policies that ship and those of a file, and which tenant is served by which.

    Args:
        held: the file; without one, every tenant has the default.

    Raises:
        ConfigurationError: a tenant or the default names a policy that there is not, or the file
            gives a policy the name of one that ships.
    """

    def __init__(self, held: PolicyFile | None = None) -> None:
        held = held or PolicyFile()
        for name in held.policies:
            if name in shipped():
                raise ConfigurationError(
                    f"{VARIABLE}: policies.{name}: {name!r} ships with memledger and cannot be "
                    "changed: give yours another name"
                )
        self._policies = {**shipped(), **held.policies}
        self._default = self._checked("default", held.default)
        self._tenants = {
            tenant: self._checked(f"tenants.{tenant}", name)
            for tenant, name in held.tenants.items()
        }

    @classmethod
    def read(cls, path: Path | None) -> Self:
        """Return the policies with those of a file; without one those that ship.

        Raises:
            ConfigurationError: the file cannot be used; the message names file and field.
        """
        return cls(None if path is None else read_toml(path, PolicyFile, variable=VARIABLE))

    @property
    def tenants(self) -> Collection[str]:
        """The tenants that the file names."""
        return self._tenants.keys()

    def of(self, tenant: str | None) -> tuple[str, Policy]:
        """Return the name of a tenant's policy, and the policy."""
        name = self._default if tenant is None else self._tenants.get(tenant, self._default)
        return name, self._policies[name]

    def named(self, name: str) -> Policy:
        """Return the policy of a name.

        Raises:
            ConfigurationError: there is none.
        """
        return self._policies[self._checked("policy", name)]

    def _checked(self, field: str, name: str) -> str:
        if name not in self._policies:
            known = ", ".join(sorted(self._policies))
            raise ConfigurationError(
                f"{VARIABLE}: {field}: there is no policy {name!r}: name one of {known}, or add "
                f"[policies.{name}]"
            )
        return name


@cache
def shipped() -> Mapping[str, Policy]:
    """Return the policies that ship with memledger."""
    text = files("projections").joinpath("policies.toml").read_text("utf-8")
    return MappingProxyType(dict(PolicyFile.model_validate(tomllib.loads(text)).policies))
