"""Measuring what is remembered: the labels, how memories are matched with them, and the verb."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.evaluation.conversations import (
    LabelledConversation,
    read_conversations,
)
from deploy.evaluation.running import Mode, Parts, Ran, run_all
from deploy.evaluation.scoring import as_json, score
from processors.extractors.rules import RulesExtractor
from projections.embedders.hashing import HashEmbedder
from schemas.errors import ExtractionRejected, InvalidInput
from schemas.memory import Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest, Extractor
from schemas.proposals import Action, Operation, Usage
from schemas.slots import Slot

CASES = read_conversations(None)

SMALL_TALK = (
    "Hi!", "How are you?", "haha", "lol", "ok", "Thanks a lot!", "Good night", "wow", "bye", ":)",
)  # fmt: skip


class Scripted:
    """Answers each text with what a test says; a text without an answer gives nothing."""

    name = "scripted"
    model = "scripted-model"
    prompt_hash = "1"
    known_max = 3

    def __init__(self, answers: Mapping[str, Sequence[Operation]]) -> None:
        self.answers = answers
        self.known: dict[str, list[str]] = {}

    async def extract(self, request: ExtractionRequest) -> Extraction:
        text = request.turn.user_text
        self.known[text] = [item.memory.content for item in request.known]
        if text == "unanswerable":
            error = ExtractionRejected("no")
            error.usage = Usage(calls=1, input_tokens=7)
            raise error
        return Extraction(
            operations=tuple(self.answers.get(text, ())), usage=Usage(calls=1, input_tokens=100)
        )


def operation(
    content: str,
    *,
    quote: str,
    slot: Slot = Slot.RESIDENCE,
    about: str = "user",
    action: Action = Action.ADD,
    kind: MemoryKind = MemoryKind.SEMANTIC,
) -> Operation:
    return Operation(
        action=action,
        kind=kind,
        slot=slot,
        about=about,
        content=content,
        importance=3,
        confidence=Confidence.STATED,
        quote=quote,
    )


def conversation(*turns: Mapping[str, Any], name: str = "case") -> LabelledConversation:
    return LabelledConversation.model_validate(
        {
            "name": name,
            "language": "en",
            "domain": "test",
            "begins_at": "2026-03-01T09:00:00+01:00",
            "turns": turns,
        }
    )


def label(
    slot: str = "residence", *, words: Sequence[Sequence[str]], **more: Any
) -> dict[str, Any]:
    return {"kind": "semantic", "slots": [slot], "words": words, **more}


def ran(
    extractor: Extractor, *conversations: LabelledConversation, mode: Mode = "turn"
) -> list[Ran]:
    parts = Parts(
        extractor=extractor,
        embedder=HashEmbedder(dimension=64),
        attempts_max=1,
        timeout_s=5,
        mode=mode,
    )
    return asyncio.run(run_all(parts, conversations))


def told(
    extractor: Extractor, *conversations: LabelledConversation, mode: Mode = "turn"
) -> dict[str, Any]:
    return as_json(score(ran(extractor, *conversations, mode=mode)), listed=True)


def test_the_labelled_conversations_are_many_in_many_languages_and_domains() -> None:
    in_other_languages = [case for case in CASES if case.language != "en"]

    assert len(CASES) >= 60
    assert sum(len(case.turns) for case in CASES) >= 300
    assert len(in_other_languages) >= 8
    assert len({case.domain for case in CASES}) >= 8
    assert len({case.name for case in CASES}) == len(CASES)
    # What should give nothing is as much of a test as what should give something.
    nothing = sum(not turn.memories for case in CASES for turn in case.turns)
    assert nothing >= sum(len(case.turns) for case in CASES) * 0.4


def test_rules_prefer_to_miss_and_store_nothing_that_is_forbidden() -> None:
    found = told(RulesExtractor(), *CASES)

    assert found["all"]["precision"] >= 0.9
    assert found["forbidden_stored"] == 0, found["forbidden"]
    assert found["failed"] == {}


def test_ten_turns_of_small_talk_store_nothing_and_a_diet_among_them_one_memory() -> None:
    talk = conversation(*({"user": text} for text in SMALL_TALK), name="talk")
    with_diet = conversation(
        *({"user": text} for text in SMALL_TALK),
        {"user": "I'm vegetarian", "assistant": "You probably love tofu, then!"},
        name="diet",
    )

    first, second = ran(RulesExtractor(), talk, with_diet)

    assert len(SMALL_TALK) == 10
    assert first.held == ()
    assert [held.memory.content for held in second.held] == ["Is vegetarian"]


@pytest.mark.parametrize("mode", ["turn", "session"])
def test_right_missed_and_wrong_are_told_apart(mode: Mode) -> None:
    case = conversation(
        {"user": "I live in Pune", "memories": [label(words=[["pune"]])]},
        {"user": "I have a cat", "memories": [label("possession", words=[["cat"]])]},
        {"user": "Rome is nice"},
    )
    turns = [turn.turn_id for turn in case.said()]
    answers = {
        "I live in Pune": [operation("Lives in Pune", quote="I live in Pune")],
        "Rome is nice": [operation("Lives in Rome", quote="Rome is nice", about="sister")],
    }

    found = told(Scripted(answers), case, mode=mode)

    assert len(set(turns)) == 3
    assert found["all"] == {
        "labels": 2,
        "found": 1,
        "stored": 2,
        "right": 1,
        "precision": 0.5,
        "recall": 0.5,
    }
    assert found["by_slot"]["possession"]["recall"] == 0
    assert found["by_slot"]["possession"]["precision"] is None
    assert [(one["turn"], one["user"]) for one in found["missed"]] == [(1, "I have a cat")]
    assert [(one["turn"], one["content"]) for one in found["wrong"]] == [(2, "Lives in Rome")]
    assert found["usage"]["calls"] == 3


@pytest.mark.parametrize(
    ("proposed", "right"),
    [
        ({"content": "Lives in PUNÉ"}, True),
        ({"content": "Lives in Mumbai"}, False),
        ({"content": "Lives in Pune", "slot": Slot.ORIGIN}, False),
        ({"content": "Lives in Pune", "about": "sister"}, False),
        ({"content": "Lives in Pune", "kind": MemoryKind.EPISODIC}, True),
    ],
)
def test_slot_about_and_words_make_a_memory_right(proposed: dict[str, Any], right: bool) -> None:
    case = conversation({"user": "I live in Pune", "memories": [label(words=[["pune"], ["live"]])]})
    answers = {"I live in Pune": [operation(**{"quote": "I live in Pune", **proposed})]}

    found = told(Scripted(answers), case)

    assert (found["all"]["stored"], found["all"]["right"]) == (1, int(right))
    assert found["all"]["found"] == int(right)


def test_an_optional_label_makes_a_memory_right_and_is_no_miss() -> None:
    case = conversation(
        {"user": "My cat Miso sleeps", "memories": [label("note", words=[["miso"]], optional=True)]}
    )
    noted = operation("Has a cat, Miso", quote="My cat Miso", slot=Slot.NOTE)

    silent, noting = told(Scripted({}), case), told(Scripted({"My cat Miso sleeps": [noted]}), case)

    assert (silent["all"]["labels"], silent["missed"]) == (0, [])
    assert (noting["all"]["right"], noting["wrong"]) == (1, [])


def test_a_confirmed_memory_counts_as_given_and_the_user_is_shown_what_is_known() -> None:
    case = conversation(
        {"user": "I live in Pune", "memories": [label(words=[["pune"]])]},
        {"user": "Yes, I live in Pune", "memories": [label(words=[["pune"]])]},
    )
    scripted = Scripted(
        {
            text: [operation("Lives in Pune", quote="I live in Pune")]
            for text in ("I live in Pune", "Yes, I live in Pune")
        }
    )

    found = told(scripted, case)

    assert (found["all"]["found"], found["all"]["right"]) == (2, 2)
    assert scripted.known == {"I live in Pune": [], "Yes, I live in Pune": ["Lives in Pune"]}


def test_what_must_never_be_held_and_what_should_be_gone_are_told() -> None:
    case = conversation(
        {"user": "I live in Pune", "never": ["pune"]},
        {"user": "I moved to Rome", "gone": ["pune", "rome"]},
    )
    answers = {
        "I live in Pune": [operation("Lives in Pune", quote="I live in Pune")],
        "I moved to Rome": [operation("Lives in Rome", quote="I moved to Rome")],
    }

    found = told(Scripted(answers), case)

    assert found["forbidden_stored"] == 1
    assert found["forbidden"][0]["never"] == ["pune"]
    assert found["gone"] == {"asked": 2, "left": 1}
    assert [one["content"] for one in found["left"]] == ["Lives in Rome"]


def test_the_gate_decides_here_too_and_a_failed_turn_is_told() -> None:
    case = conversation({"user": "Hello there, you"}, {"user": "unanswerable"})
    answers = {"Hello there, you": [operation("Lives in Rome", quote="I live in Rome")]}

    found = told(Scripted(answers), case)

    assert found["all"]["stored"] == 0
    assert found["refused"] == {"evidence_not_in_user_text": 1}
    assert found["failed"] == {"ExtractionRejected": 1}
    assert found["usage"]["input_tokens"] == 107


def test_users_of_different_conversations_know_nothing_of_each_other() -> None:
    scripted = Scripted({"I live in Pune": [operation("Lives in Pune", quote="I live in Pune")]})
    first = conversation({"user": "I live in Pune"}, name="first")
    second = conversation({"user": "Where do I live"}, name="second")

    ran(scripted, first, second)

    assert scripted.known["Where do I live"] == []


def broken(**changes: Any) -> dict[str, Any]:
    turn = {"user": "a", "memories": [{"kind": "semantic", "slots": ["name"], "words": [["a"]]}]}
    return {
        "language": "en", "domain": "d", "begins_at": "2026-03-01T09:00:00Z", "turns": [turn],
    } | changes  # fmt: skip


@pytest.mark.parametrize(
    ("case", "said"),
    [
        (broken(turns=[]), "turns: "),
        (broken(begins_at="2026-03-01T09:00:00"), "begins_at: "),
        (broken(turns=[{"user": "a", "memories": [{"slots": ["name"]}]}]), "memories.0.kind: "),
        (broken(turns=[{"user": "a", "memorys": []}]), "turns.0.memorys: "),
        (broken(turns=[{"text": "a"}]), "turns.0.user: "),
    ],
)
def test_a_case_that_does_not_fit_is_refused_by_file_and_field(
    tmp_path: Path, case: dict[str, Any], said: str
) -> None:
    (tmp_path / "odd.json").write_text(json.dumps(case), encoding="utf-8")

    with pytest.raises(InvalidInput) as refused:
        read_conversations(tmp_path)

    assert "odd.json" in str(refused.value)
    assert said in str(refused.value)


def test_the_documented_case_is_one_that_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    section = page.partition("### memledger eval extraction")[2]
    (tmp_path / "documented.json").write_text(
        section.partition("```json\n")[2].partition("```")[0], encoding="utf-8"
    )

    (case,) = read_conversations(tmp_path)

    assert (case.name, len(case.turns)) == ("documented", 3)
    assert case.turns[0].memories[2].optional


@pytest.fixture
def evaluated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    monkeypatch.setenv("MEMLEDGER_EMBEDDER", "hash")
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))

    def run(*arguments: str) -> tuple[int, str]:
        result = CliRunner().invoke(main, ["eval", "extraction", *arguments])
        return result.exit_code, result.stdout + result.stderr

    return run


def test_the_verb_prints_figures_for_programs_and_people(
    evaluated: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    case = broken(
        turns=[
            {"user": "I'm vegetarian", "memories": [label("diet", words=[["vegetarian"]])]},
            {"user": "My cat is grey", "memories": [label("possession", words=[["cat"]])]},
        ]
    )
    (cases / "one.json").write_text(json.dumps(case), encoding="utf-8")

    status, out = evaluated("--extractor", "rules", "--cases", str(cases), "--json", "--verbose")
    figures = json.loads(out)

    assert status == 0
    assert (figures["extractor"], figures["mode"]) == ("rules", "turn")
    assert (figures["by_kind"]["semantic"]["recall"], figures["all"]["precision"]) == (0.5, 1.0)
    assert [one["user"] for one in figures["missed"]] == ["My cat is grey"]
    status, out = evaluated("--extractor", "rules", "--cases", str(cases), "--verbose")
    assert status == 0
    assert "missed one turn 1: possession user [cat] of: My cat is grey" in out
    assert "1 conversations, 2 turns" in out
    assert "without a usable answer: 0\nno model was asked: the extractor rules works" in out
    assert "--extractor, or MEMLEDGER_EXTRACTOR: anthropic, openai" in " ".join(out.split())


def test_the_verb_says_what_it_cannot_use(
    evaluated: Callable[..., tuple[int, str]], tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()

    assert evaluated("--cases", str(tmp_path / "empty"))[0] == 2
    status, out = evaluated("--extractor", "nobody")
    assert status == 2
    assert "there is no extractor 'nobody'" in out
