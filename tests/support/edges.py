"""Reading docs/input.md: what each row sends, and what it says that this gets."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count

from schemas.json_text import decode_text
from tests.support.documents import ROOT, Page, code_of, codes_of

INPUT = Page(ROOT / "docs" / "input.md")

GOOD_TURN: Mapping[str, object] = {"user_id": "u", "conversation_id": "c", "user_text": "hello"}
GOOD_BODIES: Mapping[str, Mapping[str, object]] = {
    "fact": {
        "user_id": "u",
        "content": "Order 7 arrived two days late.",
        "kind": "episodic",
        "slot": "event",
        "source": "system",
        "provenance": {"system": "orders", "type": "order_late"},
    },
    "decision": {"decision": "approve", "reason": "agreed by phone"},
    "end": {"user_id": "u0", "conversation_id": "c"},
}
USERS = 100
JSON = {"content-type": "application/json"}

_REPEATED = re.compile(r"<(\d+) x ([^>]+)>")
_HEADER = re.compile(r"([A-Z][A-Za-z-]+): (.*)")
_ENCODED = re.compile(r"` in ([a-z0-9-]+)")
_REFUSED = 400
_SAID = "refused: "
_ANSWER = re.compile(r"(\d{3})(?: `([a-z_]+)`)?(?: (.+))?")
_GOOD = re.compile(r"(fact|decision|end)(?: with (\{.*\})| without ([a-z_]+))?")
_TURN = re.compile(r'(?<![\w"/])turn(?![\w"])')


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What a row says that a request gets.

    Attributes:
        status: the HTTP status.
        code: the problem's code, if it is one.
        field: the only field that is named.
        said: what an import says instead of a field.
    """

    status: int
    code: str | None = None
    field: str | None = None
    said: str | None = None

    @property
    def accepted(self) -> bool:
        """Whether what was sent is taken."""
        return self.status < _REFUSED


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnRow:
    """A row of the table of turns.

    Attributes:
        case: its name.
        doors: where it is sent: ``turn``, ``list``, ``import``.
        sent: the changed fields as JSON, ``without`` and a field, or what stands for a turn.
        answer: what it gets.
        kept: ``as sent``, ``in normal form C`` or ``nothing``.
    """

    case: str
    doors: tuple[str, ...]
    sent: str
    answer: Answer
    kept: str

    def fields(self) -> dict[str, object]:
        """Return the fields that the row changes."""
        body = decode_text(filled(self.sent)) if self.sent.startswith("{") else {}
        assert isinstance(body, dict)
        return body

    def text(self, **good: object) -> str:
        """Return the item as JSON: a good turn with these fields, but for what the row says."""
        turn = {**GOOD_TURN, **good}
        if self.sent.startswith("without "):
            del turn[self.sent.removeprefix("without ")]
            return json.dumps(turn)
        text = filled(self.sent)
        if not self._is_object():
            return text
        return _changed(turn, text)

    def _is_object(self) -> bool:
        return self.sent.startswith("{") and self.sent.endswith("}")


@dataclass(frozen=True, kw_only=True, slots=True)
class RequestRow:
    """A row that is one HTTP request.

    Attributes:
        case: its name.
        method, address: what is asked.
        content: the body.
        headers: in place of the usual ones, in lower case.
        answer: what it gets.
        kept: how many turns the log then holds of it.
    """

    case: str
    method: str
    address: str
    content: bytes
    headers: Mapping[str, str]
    answer: Answer
    kept: int


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandRow:
    """A row that is one run of the command.

    Attributes:
        case: its name.
        environment: what is set for it.
        arguments: what is given to ``memledger``.
        status: the exit status.
        named: what standard error names, if anything.
    """

    case: str
    environment: Mapping[str, str]
    arguments: tuple[str, ...]
    status: int
    named: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RecordRow:
    """A row that is one record of the log: its name, who writes it, how it is accounted for."""

    case: str
    record: str
    counted: str


@cache
def turn_rows() -> tuple[TurnRow, ...]:
    """Return the table of turns."""
    return tuple(
        TurnRow(
            case=case,
            doors=tuple(codes_of(doors)),
            sent=code_of(sent),
            answer=_answer(answer),
            kept=kept,
        )
        for case, doors, sent, answer, kept in INPUT.table("Turns")
    )


@cache
def request_rows(heading: str) -> tuple[RequestRow, ...]:
    """Return a table of requests; without a column for it, nothing is sent or kept."""
    return tuple(_request_row(*row) for row in INPUT.table(heading))


@cache
def command_rows() -> tuple[CommandRow, ...]:
    """Return the table of commands."""
    return tuple(_command_row(*row) for row in INPUT.table("The command line"))


@cache
def record_rows() -> tuple[RecordRow, ...]:
    """Return the table of records."""
    return tuple(
        RecordRow(case=case, record=code_of(record), counted=counted)
        for case, record, counted in INPUT.table("Records of the log")
    )


def filled(text: str) -> str:
    """Return a text with ``<3 x a>`` written out as ``aaa``."""
    return _REPEATED.sub(
        lambda match: ("\ufeff" if match[2] == "\\ufeff" else match[2]) * int(match[1]), text
    )


def good_turn(number: int) -> str:
    """Return a good turn as JSON, of one of many users: the turns of one wait for each other."""
    return json.dumps({**GOOD_TURN, "user_id": f"u{number % USERS}"})


def _changed(good: Mapping[str, object], changes: str) -> str:
    """Return a good object as JSON, but for the fields of another that is JSON already."""
    changed = decode_text(changes)
    assert isinstance(changed, dict)
    rest = json.dumps({name: value for name, value in good.items() if name not in changed})
    return f"{rest[:-1]}, {changes[1:]}" if rest != "{}" else changes


def _with_good_bodies(text: str) -> str:
    found = _GOOD.fullmatch(text)
    if found is None:
        return _with_turns(text)
    good = GOOD_BODIES[found[1]]
    if found[2] is not None:
        return _changed(good, found[2])
    return json.dumps({name: value for name, value in good.items() if name != found[3]})


def _with_turns(text: str) -> str:
    numbers = count()
    return _TURN.sub(lambda _: good_turn(next(numbers)), text)


def _request_row(case: str, request: str, *cells: str) -> RequestRow:
    sent, answer, kept = (
        cells if len(cells) == 3 else (*cells, "0") if len(cells) == 2 else ("", *cells, "0")
    )
    method, _, address = code_of(request).partition(" ")
    body, *told = codes_of(sent) or [""]
    headers = [_HEADER.fullmatch(header) for header in told]
    encoding = _ENCODED.search(sent)
    return RequestRow(
        case=case,
        method=method,
        address=filled(address),
        content=_with_good_bodies(filled(body)).encode(encoding[1] if encoding else "utf-8"),
        headers={header[1].lower(): header[2] for header in headers if header is not None},
        answer=_answer(answer),
        kept=int(kept),
    )


def _command_row(case: str, command: str, answer: str) -> CommandRow:
    words = shlex.split(filled(code_of(command)))
    program = words.index("memledger")
    status, _, named = answer.partition(" ")
    return CommandRow(
        case=case,
        environment=dict(word.split("=", 1) for word in words[:program]),
        arguments=tuple(words[program + 1 :]),
        status=int(status),
        named=code_of(named) if named else None,
    )


def _answer(cell: str) -> Answer:
    if cell.startswith(_SAID):
        return Answer(status=_REFUSED, said=cell.removeprefix(_SAID))
    told = _ANSWER.fullmatch(cell)
    assert told is not None, f"no answer: {cell!r}"
    return Answer(status=int(told[1]), code=told[2], field=told[3])
