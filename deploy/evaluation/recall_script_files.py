"""Reading scripts of recall: what does not fit is told by file, key and remedy."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from deploy.evaluation.recall_script_parts import PersonsDecision, Proposed
from deploy.evaluation.recall_scripts import (
    Question,
    RecallScript,
    ScriptTurn,
    Session,
    ToldTurn,
)
from schemas.errors import InvalidInput

SCRIPTS: Final = Path(__file__).parents[2] / "tests" / "recall_scripts"
"""The scripts of the source tree; an installed package has none."""

CATEGORIES: Final = (
    "persistence",
    "update",
    "deletion",
    "isolation",
    "irrelevance",
    "temporal",
    "abstention",
    "poisoning",
    "language",
)
"""The categories of the source tree, in the order in which they are told; others come behind."""

_MANUAL: Final = "see `memledger eval recall` in docs/api.md for how a script is written"


def read_scripts(
    directory: Path | None = None, *, categories: Collection[str] = ()
) -> list[RecallScript]:
    """Return the scripts of a directory: one in each ``.toml`` file of each category's directory.

    Args:
        directory: where they are; ``None`` for those of the source tree.
        categories: those that are wanted; none for all.

    Raises:
        InvalidInput: there is none, a category has none, or a script does not fit.
    """
    place = SCRIPTS if directory is None else directory
    paths = sorted(place.glob("*/*.toml"))
    astray = sorted(place.glob("*.toml"))
    if astray:
        raise InvalidInput(
            field="--cases",
            problem=f"holds {astray[0].name} beside the categories' directories",
            remedy=f"move it into one of them, such as {place.name}/{CATEGORIES[0]}/",
        )
    if not paths:
        raise InvalidInput(
            field="--cases",
            problem=f"finds no <category>/<script>.toml in {place}",
            remedy="name a directory of categories with scripts, such as tests/recall_scripts of "
            "the source tree",
        )
    there = {path.parent.name for path in paths}
    for category in categories:
        if category not in there:
            raise InvalidInput(
                field="--category",
                problem=f"names {category!r}, of which there is no script",
                remedy=f"use one of {', '.join(in_order(there))}",
            )
    wanted = [path for path in paths if not categories or path.parent.name in categories]
    return [read_script(path) for path in sorted(wanted, key=lambda path: _order(path.parent.name))]


def in_order(categories: Collection[str]) -> list[str]:
    """Return categories in the order in which they are told."""
    return sorted(categories, key=_order)


def read_script(path: Path) -> RecallScript:
    """Return the script of one file.

    Raises:
        InvalidInput: it cannot be read, or does not fit; the message names file, key and remedy.
    """
    shown = f"{path.parent.name}/{path.name}"
    held = _held(path, shown)
    for taken in ("name", "category"):
        if taken in held:
            raise InvalidInput(
                field=f"{shown}: {taken}",
                problem=f"is told by the {'file' if taken == 'name' else 'directory'} already",
                remedy="leave it out",
            )
    try:
        script = RecallScript.model_validate(
            {**held, "name": path.stem, "category": path.parent.name}
        )
    except ValidationError as error:
        raise _misfit(shown, error.errors(include_url=False)[0]) from None
    for key, problem, remedy in _problems(script):
        raise InvalidInput(field=f"{shown}: {key}", problem=problem, remedy=remedy)
    return script


def _held(path: Path, shown: str) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InvalidInput(field=shown, problem="is not UTF-8", remedy="save it as UTF-8") from None
    except OSError as error:
        raise InvalidInput(
            field=shown, problem=f"cannot be read: {error}", remedy="check its permissions"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise InvalidInput(
            field=shown, problem=f"is not TOML: {error}", remedy="mend it there"
        ) from None


def _misfit(shown: str, detail: ErrorDetails) -> InvalidInput:
    where = ".".join(str(part) for part in detail["loc"]) or "the file"
    problem = detail["msg"].removeprefix("Value error, ")
    remedy = _MANUAL
    match detail["type"]:
        case "extra_forbidden":
            problem, remedy = "is no key of a script", _nearest_key(detail["loc"])
        case "missing":
            problem, remedy = "is missing", "add it"
        case "timezone_aware":
            problem, remedy = "names no time zone", "append Z for UTC or an offset such as +01:00"
    return InvalidInput(field=f"{shown}: {where}", problem=problem, remedy=remedy)


def _nearest_key(place: tuple[int | str, ...]) -> str:
    """Return what to write instead of a key that is not known."""
    model: type[BaseModel] = RecallScript
    for part in place[:-1]:
        model = _BELOW.get(part, model)
    keys = [field.alias or name for name, field in model.model_fields.items()]
    keys = [key for key in keys if model is not RecallScript or key not in {"name", "category"}]
    near = difflib.get_close_matches(str(place[-1]), keys, n=1)
    return f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(keys)}"


_BELOW: Final[dict[int | str, type[BaseModel]]] = {
    "session": Session,
    "turn": ScriptTurn,
    "proposes": Proposed,
    "curation": PersonsDecision,
    "question": Question,
}


_Problem = tuple[str, str, str]
"""A key, what is wrong with it, and the remedy."""


@dataclass(kw_only=True, slots=True)
class _Labels:
    """The labels of a script, as far as it was read.

    Attributes:
        owners: by label, tenant and user.
        refused: those of operations that the gate must refuse.
    """

    owners: dict[str, tuple[str, str]] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)

    def of(self, who: tuple[str, str]) -> list[str]:
        """Return the labels of one user."""
        return [label for label, owner in self.owners.items() if owner == who]

    def check_named(self, key: str, label: str | None, who: tuple[str, str]) -> Iterator[_Problem]:
        """Yield what is wrong with a label that something speaks of."""
        if label is not None and label not in self.of(who):
            yield (
                f"{key}.names",
                f"is {label!r}, which nothing earlier of this user has as a label",
                f"use one of {_listed(self.of(who))}",
            )

    def give(self, key: str, label: str | None, who: tuple[str, str]) -> Iterator[_Problem]:
        """Give a label; yield what is wrong with that."""
        if label is None:
            return
        if label in self.owners:
            yield (
                f"{key}.label",
                f"is {label!r}, which something earlier has too",
                "give each memory a label of its own",
            )
        self.owners[label] = who


def _problems(script: RecallScript) -> Iterator[_Problem]:
    """Yield what fits by its shape and cannot be meant."""
    labels = _Labels()
    latest: datetime | None = None
    for told in script.told():
        latest = told.arrived_at
        if isinstance(told, ToldTurn):
            yield from _problems_of_turn(told, labels)
        else:
            yield from labels.check_named(told.key, told.decided.names, told.who)
            yield from labels.give(told.key, told.decided.label, told.who)
    for number, question in enumerate(script.questions):
        yield from _problems_of(question, f"question.{number}", labels)
        if latest is not None and question.at < latest:
            yield (
                f"question.{number}.at",
                f"is before the last turn, which the ledger learns of at {latest.isoformat()}",
                "ask after all sessions, and tell an earlier time by as_of or known_at",
            )


def _problems_of_turn(told: ToldTurn, labels: _Labels) -> Iterator[_Problem]:
    for index, proposed in enumerate(told.told.proposes):
        key = f"{told.key}.proposes.{index}"
        yield from labels.check_named(key, proposed.names, told.who)
        if (
            proposed.quote is not None
            and proposed.quote not in told.told.says
            and not proposed.refused
        ):
            yield (
                f"{key}.quote",
                "does not stand in 'says', so that the gate would refuse it",
                "quote the user word by word, or say refused = true",
            )
        yield from labels.give(key, proposed.label, told.who)
        if proposed.refused and proposed.label is not None:
            labels.refused.add(proposed.label)


def _problems_of(question: Question, key: str, labels: _Labels) -> Iterator[_Problem]:
    own = labels.of(question.who)
    lists = (
        ("must", question.must, [label for label in own if label not in labels.refused]),
        ("may", question.may, own),
        ("stale", question.stale, own),
        ("must_not", question.must_not, list(labels.owners)),
    )
    for name, named, allowed in lists:
        for label in named:
            if label not in allowed:
                yield (
                    f"{key}.{name}",
                    f"names {label!r}, which is no label of what "
                    + ("anybody" if name == "must_not" else f"{question.user!r}")
                    + (" has stored" if name == "must" else " was noted for"),
                    f"use one of {_listed(allowed)}",
                )


def _listed(labels: Collection[str]) -> str:
    return ", ".join(sorted(labels)) or "none: there is no such label"


def _order(category: str) -> tuple[int, str]:
    known = CATEGORIES.index(category) if category in CATEGORIES else len(CATEGORIES)
    return (known, category)
