"""What each tenant may spend on models, in a day and in a month: read from a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from schemas.errors import ConfigurationError
from schemas.toml_file import read_toml

VARIABLE: Final = "MEMLEDGER_BUDGETS"

UNLIMITED: Final = "unlimited"


class Period(StrEnum):
    """Over what is summed; both begin at midnight UTC."""

    DAY = "day"
    MONTH = "month"


class Measure(StrEnum):
    """What is summed."""

    TOKENS = "tokens"
    MONEY = "money"


Tokens = Annotated[int, Field(ge=0)] | Literal["unlimited"]
Money = Annotated[Decimal, Field(ge=0, allow_inf_nan=False)] | Literal["unlimited"]


class TenantLimits(BaseModel):
    """What a tenant may spend. With 0 nothing is spent at all.

    Attributes:
        tokens_per_day, tokens_per_month: tokens read and written, from a cache and to it as well.
        money_per_day, money_per_month: in the currency of the prices.

    ``None`` leaves it to the default, ``"unlimited"`` lifts the default's limit.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tokens_per_day: Tokens | None = None
    tokens_per_month: Tokens | None = None
    money_per_day: Money | None = None
    money_per_month: Money | None = None

    def limits(self) -> Iterator[tuple[Period, Measure, Decimal]]:
        """Yield each limit that there is."""
        for period in Period:
            for measure in Measure:
                limit = getattr(self, f"{measure}_per_{period}")
                if limit is not None and limit != UNLIMITED:
                    yield period, measure, Decimal(limit)

    def over(self, default: TenantLimits) -> TenantLimits:
        """Return these limits, with the default's where they leave it to that."""
        told = self.model_dump(exclude_none=True)
        return default.model_copy(update=told)


class BudgetLimits(BaseModel):
    """The limits of all tenants.

    A gateway's rates are read from a file of the same form; what both would share is the form
    alone, so each is written out.

    Attributes:
        default: what each tenant may spend.
        tenants: by the tenant's name, what differs for it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    default: TenantLimits = TenantLimits()
    tenants: Mapping[str, TenantLimits] = Field(default_factory=lambda: MappingProxyType({}))

    @classmethod
    def read(cls, path: Path | None) -> Self:
        """Return the limits that a file holds; none where no file is named.

        Raises:
            ConfigurationError: it cannot be used; the message names file and field.
        """
        return cls() if path is None else read_toml(path, cls, variable=VARIABLE)

    def of(self, tenant: str) -> TenantLimits:
        """Return what a tenant may spend."""
        own = self.tenants.get(tenant)
        return self.default if own is None else own.over(self.default)

    @property
    def in_money(self) -> bool:
        """Whether any tenant has a limit in money."""
        return any(
            measure is Measure.MONEY
            for limits in (self.default, *map(self.of, self.tenants))
            for _, measure, _ in limits.limits()
        )


def require_price(limits: BudgetLimits, *, model: str, priced: bool) -> None:
    """Refuse limits in money that nothing can be held against.

    Args:
        limits: the limits.
        model: the model that will be asked.
        priced: whether its price is known.

    Raises:
        ConfigurationError: there are limits in money and no price.
    """
    if limits.in_money and not priced:
        raise ConfigurationError(
            f"{VARIABLE} limits money, and no price is known for the model {model!r}: name a file "
            "with its prices in MEMLEDGER_PRICES, or limit tokens instead"
        )
