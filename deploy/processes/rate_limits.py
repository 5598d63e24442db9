"""How much each tenant may ask of one gateway: a token bucket for requests and one for turns."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from deploy.processes.gateway_metrics import RATE_LIMITED
from schemas.errors import RateLimited
from schemas.request_context import current_request
from schemas.toml_file import read_toml

VARIABLE: Final = "MEMLEDGER_RATE_LIMITS"
UNLIMITED: Final = "unlimited"
BURST_S: Final = 2.0
"""For how many seconds of its rate a tenant may ask at once, where its burst is not told."""

Rate = Annotated[float, Field(gt=0, allow_inf_nan=False)] | Literal["unlimited"]
Burst = Annotated[float, Field(ge=1, allow_inf_nan=False)]


class Policy(StrEnum):
    """What is counted."""

    REQUESTS = "requests"
    TURNS = "turns"


class TenantRates(BaseModel):
    """What a tenant may ask of one gateway.

    Attributes:
        requests_per_s, turns_per_s: for how long it likes.
        requests_burst, turns_burst: how many at once; without it, two seconds of the rate.

    ``None`` leaves it to the default, ``"unlimited"`` lifts the default's limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests_per_s: Rate | None = None
    requests_burst: Burst | None = None
    turns_per_s: Rate | None = None
    turns_burst: Burst | None = None

    def over(self, default: TenantRates) -> TenantRates:
        """Return these rates, with the default's where they leave it to that."""
        return default.model_copy(update=self.model_dump(exclude_none=True))

    def limit(self, policy: Policy) -> tuple[float, float] | None:
        """Return rate and burst of what is counted; ``None`` where it is not limited."""
        rate = getattr(self, f"{policy}_per_s")
        if rate is None or rate == UNLIMITED:
            return None
        burst = getattr(self, f"{policy}_burst")
        return float(rate), float(burst if burst is not None else max(1.0, rate * BURST_S))


class RateLimits(BaseModel):
    """The rates of all tenants.

    Attributes:
        default: what each tenant may ask.
        tenants: by the tenant's name, what differs for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: TenantRates = TenantRates()
    tenants: Mapping[str, TenantRates] = Field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def read(cls, path: Path | None) -> Self:
        """Return the rates that a file holds; none where no file is named.

        Raises:
            ConfigurationError: it cannot be used; the message names file and field.
        """
        return cls() if path is None else read_toml(path, cls, variable=VARIABLE)

    def of(self, tenant: str) -> TenantRates:
        """Return what a tenant may ask."""
        own = self.tenants.get(tenant)
        return self.default if own is None else own.over(self.default)


@dataclass(kw_only=True, slots=True)
class Bucket:
    """A token bucket: filled at a rate up to its burst, emptied by what is asked.

    What is asked at once may be more than there is: it is let in where the bucket has at least one
    token, or as many as it asks for, and the bucket then owes the rest. So a list of 500 turns is
    never refused for ever by a bucket of 100, and still counts as 500.

    Attributes:
        rate: tokens a second.
        burst: the most that it holds.
        level: what it holds now; below 0 where it owes.
        at: when that was, in seconds of the clock.
    """

    rate: float
    burst: float
    level: float
    at: float

    def take(self, count: int, now: float) -> float:
        """Take tokens; return 0, or where there are too few the seconds until it is worth trying.

        Args:
            count: how many, 1 or more.
            now: seconds of the clock.
        """
        self.level = min(self.burst, self.level + (now - self.at) * self.rate)
        self.at = now
        wanted = min(float(count), self.burst)
        if self.level >= min(1.0, wanted):
            self.level -= count
            return 0.0
        return (min(1.0, wanted) - self.level) / self.rate


class RateLimiter:
    """Holds each tenant to its rates, within this process, and tells in each answer what is left.

    Args:
        limits: the rates of all tenants.
        clock: monotonic seconds.
    """

    def __init__(self, limits: RateLimits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        # Only tenants of valid API keys come here, so there are no more than tenants.
        self._buckets: dict[tuple[str, Policy], Bucket | None] = {}

    def admit_request(self, tenant: str) -> None:
        """Count a request.

        Raises:
            RateLimited: the tenant has asked too often.
        """
        self._admit(tenant, Policy.REQUESTS, 1)

    def admit_turns(self, tenant: str, count: int) -> None:
        """Count the turns of a request, all of them or none.

        Raises:
            RateLimited: the tenant has sent too many.
        """
        self._admit(tenant, Policy.TURNS, count)

    def _admit(self, tenant: str, policy: Policy, count: int) -> None:
        bucket = self._bucket(tenant, policy)
        if bucket is None:
            return
        wait_s = bucket.take(count, self._clock())
        _tell(policy, bucket)
        if wait_s > 0:
            RATE_LIMITED.labels(tenant, policy.value).inc()
            raise RateLimited(
                f"more {policy} than this tenant may send: {bucket.rate:g} a second, "
                f"{bucket.burst:g} at once; send it again later",
                retry_after_s=max(1, math.ceil(wait_s)),
            )

    def _bucket(self, tenant: str, policy: Policy) -> Bucket | None:
        key = (tenant, policy)
        if key not in self._buckets:
            limit = self._limits.of(tenant).limit(policy)
            self._buckets[key] = (
                None
                if limit is None
                else Bucket(rate=limit[0], burst=limit[1], level=limit[1], at=self._clock())
            )
        return self._buckets[key]


def _tell(policy: Policy, bucket: Bucket) -> None:
    """Tell the caller what is left, in the fields of draft-ietf-httpapi-ratelimit-headers-09.

    A bucket has no windows: its quota is the burst, its window how long it takes to fill.
    """
    request = current_request()
    if request is None:
        return
    window = math.ceil(bucket.burst / bucket.rate)
    left = max(0, math.floor(bucket.level))
    full = math.ceil((bucket.burst - bucket.level) / bucket.rate)
    for name, item in (
        ("RateLimit-Policy", f'"{policy}";q={math.floor(bucket.burst)};w={window}'),
        ("RateLimit", f'"{policy}";r={left};t={full}'),
    ):
        told = request.headers.get(name)
        request.headers[name] = item if told is None else f"{told}, {item}"
