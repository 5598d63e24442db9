"""What ``memledger costs`` prints for people."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from rich.table import Table

from deploy.cli.output import console, shown, table

_DIGITS: Final = 4
"""Significant digits of money for one turn, which is a small part of a cent."""

_TOKENS: Final = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


def print_spent(told: dict[str, Any]) -> None:
    """Print what was spent."""
    out = console()
    if not told["models"]:
        whose = f" for the tenant {shown(told['tenant'])}" if told["tenant"] else ""
        out.print(f"nothing was asked since {told['since']}{whose}")
        return
    rows = table(
        "tenant",
        "model",
        "turns",
        *_usage_columns(),
        _money_column(told),
        "per turn",
        title=f"since {told['since']}",
    )
    for one in told["models"]:
        rows.add_row(shown(one["tenant"]), shown(one["model"]), *_cells(one))
    rows.add_row("all", "", *_cells(told["total"]), style="bold")
    out.print(rows)
    for model in told["unpriced_models"]:
        out.print(
            f"no price is known for the model {shown(model)}: add it to the file that "
            "MEMLEDGER_PRICES names, which is read here and not by the pipeline that runs"
        )


def print_estimate(told: dict[str, Any]) -> None:
    """Print an estimate."""
    out = console()
    rows: Table = table(
        "mode",
        "turns asked about",
        "kept away",
        *_usage_columns(),
        _money_column(told),
        "per turn",
        title=f"{told['turns']} turns of {told['conversations']} conversations, estimated",
    )
    for mode, one in told["modes"].items():
        usage = one["usage"]
        rows.add_row(
            mode,
            str(one["asked_turns"]),
            str(sum(one["kept_away"].values())),
            *_usage_cells(usage),
            _money(one["money"]),
            _money(one["money_per_turn"]),
        )
    out.print(rows)
    assumed = told["assumed"]
    out.print(
        f"Taken for granted: {assumed['known_memories']} known memories in each question, "
        f"{assumed['memories_per_turn']:g} new ones a turn, the rules in the provider's cache for "
        f"{100 * assumed['cached_share']:.0f}% of the calls, sessions that end after "
        f"{assumed['session_idle_s']:g} s without a turn; tokens from the sorts of characters, "
        "which a model's own count may differ from by a third."
    )
    if told["left_out"]:
        out.print(f"{told['left_out']} turns behind the first {told['turns']} were left out")
    if told["refused"] or told["unreadable"]:
        out.print(
            f"{told['refused']} turns and {told['unreadable']} parts of the file could not be read"
        )
    if all(one["money"] is None for one in told["modes"].values()):
        out.print(_without_price(told))


def _without_price(told: dict[str, Any]) -> str:
    """Return why an estimate tells no money, and what to do."""
    model = told["model"]
    if told["currency"] is None:
        return "no price is known: name a file of prices in MEMLEDGER_PRICES"
    if model is None:
        return "no model is named whose price could be taken: name one with --model"
    return (
        f"no price is known for the model {shown(model)}: add it to the file that MEMLEDGER_PRICES "
        "names, or take another with --model"
    )


def _usage_columns() -> tuple[str, ...]:
    return ("calls", "input", "output", "from cache", "to cache")


def _usage_cells(usage: dict[str, int]) -> tuple[str, ...]:
    return (f"{usage['calls']:,}", *(f"{usage[name]:,}" for name in _TOKENS))


def _money_column(told: dict[str, Any]) -> str:
    return told["currency"] or "money"


def _cells(one: dict[str, Any]) -> tuple[str, ...]:
    return (
        f"{one['turns']:,}",
        *_usage_cells(one["usage"]),
        _money(one["money"]),
        _money(one["money_per_turn"]),
    )


def _money(amount: str | None) -> str:
    """Return money with a few significant digits; a question mark where it is not known."""
    if amount is None:
        return "?"
    value = Decimal(amount)
    if value == 0:
        return "0"
    places = max(2, _DIGITS - 1 - value.adjusted())
    return f"{value:,.{places}f}"
