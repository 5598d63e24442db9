"""The scripts of recall: that there are enough, and what is said of one that does not fit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from deploy.evaluation.recall_script_files import CATEGORIES, SCRIPTS, read_script, read_scripts
from deploy.evaluation.recall_scripts import RecallScript, ToldDecision, ToldTurn
from schemas.commands import PersonCorrects, PersonPins, PersonRemembers
from schemas.errors import InvalidInput
from schemas.memory import MemoryKind, Precision
from schemas.proposals import Action
from schemas.slots import Slot
from tests.support.log_writer import memory

SCRIPT: Final = """
title = "t"
language = "en"

[[session]]
at = 2026-01-12T18:40:00+01:00

[[session.turn]]
says = "I live in Lyon"
proposes = [{ label = "lyon", slot = "residence", content = "Lives in Lyon" }]

[[session.turn]]
says = "Not Lyon any more"
proposes = [{ does = "retract", names = "lyon" }]

[[question]]
at = 2026-02-01T09:00:00Z
asks = "Where do I live?"
stale = ["lyon"]
"""


def written(place: Path, text: str, *, name: str = "odd", category: str = "update") -> Path:
    (place / category).mkdir(exist_ok=True)
    path = place / category / f"{name}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_scripts_of_the_source_tree_fit_and_are_many_in_every_category() -> None:
    scripts = read_scripts()
    by_category = Counter(script.category for script in scripts)

    assert len(scripts) >= 60
    assert set(by_category) == set(CATEGORIES)
    assert min(by_category.values()) >= 6, by_category
    assert len({script.language for script in scripts if script.category == "language"}) >= 12
    assert 0.3 <= sum(script.held_out for script in scripts) / len(scripts) <= 0.4
    assert all(len(script.sessions) >= 2 for script in scripts if script.category == "update")


def test_every_script_of_the_source_tree_is_in_a_category() -> None:
    assert len(read_scripts()) == len(list(SCRIPTS.rglob("*.toml")))


def test_turns_carry_what_a_model_would_propose(tmp_path: Path) -> None:
    script = read_script(written(tmp_path, SCRIPT))
    first, second = told_turns(script)
    added, retracted = first.told.proposes[0], second.told.proposes[0]

    operation = added.operation(first.turn().user_text, named=None, reference=None)
    withdrawn = retracted.operation(
        second.turn().user_text, named=operation, reference=first.turn().turn_id
    )

    assert (script.name, script.category) == ("odd", "update")
    assert (operation.kind, operation.quote) == (MemoryKind.SEMANTIC, "I live in Lyon")
    assert operation.valid_from_precision is Precision.MOMENT
    assert (withdrawn.action, withdrawn.content) == (Action.RETRACT, "Lives in Lyon")
    assert withdrawn.slot is operation.slot
    assert withdrawn.reference == first.turn().turn_id
    assert (second.turn().occurred_at - first.turn().occurred_at).total_seconds() == 120
    assert first.turn().utc_offset_minutes == 60
    assert first.turn().turn_id != second.turn().turn_id


CURATIONS: Final = """
[[curation]]
at = 2026-01-12T20:00:00Z
does = "correct"
names = "lyon"
label = "basel"
content = "Lives in Basel"

[[curation]]
at = 2026-01-12T21:00:00Z
does = "unpin"
names = "basel"

[[curation]]
at = 2026-01-12T22:00:00Z
does = "remember"
label = "rule"
slot = "rule"
content = "Answer in French"
pinned = true
"""


def test_what_is_decided_by_hand_is_told_in_its_time(tmp_path: Path) -> None:
    script = read_script(written(tmp_path, SCRIPT + CURATIONS))
    held = memory(uuid4(), uuid4(), content="Lives in Lyon", slot=Slot.RESIDENCE)

    correct, unpin, remember = (told for told in script.told() if isinstance(told, ToldDecision))

    assert [told.key for told in script.told()][:2] == ["session.0.turn.0", "session.0.turn.1"]
    corrected = correct.curation(held).decision
    assert isinstance(corrected, PersonCorrects)
    assert (corrected.memory.content, corrected.content) == ("Lives in Lyon", "Lives in Basel")
    assert (corrected.slot, corrected.pinned) == (None, None)
    unpinned = unpin.curation(held)
    assert isinstance(unpinned.decision, PersonPins)
    assert not unpinned.decision.pinned
    assert unpinned.occurred_at == unpin.arrived_at
    remembered = remember.curation(None).decision
    assert isinstance(remembered, PersonRemembers)
    assert (remembered.kind, remembered.pinned) == (MemoryKind.PROCEDURAL, True)
    assert len({told.curation(held).turn_id for told in (correct, unpin)}) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(('names = "lyon"', 'names = "oslo"'), ["curation.0.names", "lyon"], id="name"),
        pytest.param(('"unpin"', '"hide"'), ["curation.1.does", "'unpin'"], id="verb"),
        pytest.param(
            ('"unpin"\nnames', '"unpin"\nlabel = "b"\nnames'), ["curation.1", "label"], id="label"
        ),
        pytest.param(('"correct"\nnames = "lyon"', '"correct"'), ["curation.0", "lab"], id="none"),
        pytest.param(('content = "Answer in French"', ""), ["curation.2", "'content'"], id="empty"),
        pytest.param(("pinned =", "pined ="), ["curation.2.pined", "'pinned'?"], id="key"),
        pytest.param(('label = "rule"', 'label = "lyon"'), ["curation.2.label"], id="twice"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_too(
    tmp_path: Path, change: tuple[str, str], says: list[str]
) -> None:
    path = written(tmp_path, SCRIPT + CURATIONS.replace(*change, 1))

    with pytest.raises(InvalidInput) as refused:
        read_script(path)

    for expected in says:
        assert expected in str(refused.value)


def told_turns(script: RecallScript) -> list[ToldTurn]:
    return [told for told in script.told() if isinstance(told, ToldTurn)]


def test_what_arrives_late_is_told_late(tmp_path: Path) -> None:
    late = (
        SCRIPT.replace("+01:00\n", "+01:00\narrives_at = 2026-01-20T00:00:00Z\n", 1)
        + '[[session]]\nat = 2026-01-14T00:00:00Z\n[[session.turn]]\nsays = "Hello"\n'
    )

    told = told_turns(read_script(written(tmp_path, late)))

    assert [turn.told.says for turn in told] == ["Hello", "I live in Lyon", "Not Lyon any more"]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        pytest.param(("slot =", "slott ="), ["proposes.0.slott", "'slot'?"], id="key"),
        pytest.param(('"residence"', '"home"'), ["proposes.0.slot", "'residence'"], id="slot"),
        pytest.param(("+01:00", ""), ["session.0.at", "append Z"], id="no zone"),
        pytest.param(("asks =", "ask ="), ["question.0.asks", "is missing"], id="missing"),
        pytest.param(('"lyon"]', '"basel"]'), ["question.0.stale", "lyon"], id="unknown label"),
        pytest.param(
            ('names = "lyon"', 'names = "basel"'),
            ["turn.1.proposes.0.names", "use one of lyon"],
            id="unknown memory",
        ),
        pytest.param((', names = "lyon"', ""), ["proposes.0", "'names'"], id="nothing named"),
        pytest.param(('"retract"', '"merge"'), ["proposes.0", "add, update or retract"], id="verb"),
        pytest.param(
            ('content = "', 'quote = "Lives in", content = "'),
            ["proposes.0.quote", "'says'"],
            id="quote",
        ),
        pytest.param(("2026-02-01", "2026-01-01"), ["question.0.at", "known_at"], id="too early"),
        pytest.param(('stale = ["lyon"]', ""), ["question.0", "expects nothing"], id="no aim"),
        pytest.param(
            ('stale = ["lyon"]', 'stale = ["lyon"]\nmust = ["lyon"]'),
            ["question.0", "more than once"],
            id="two lists",
        ),
        pytest.param(
            ('stale = ["lyon"]', 'empty = true\nmust = ["lyon"]'),
            ["question.0", "'empty'"],
            id="empty and not",
        ),
        pytest.param(('title = "t"', 'name = "t"'), ["name", "leave it out"], id="name"),
        pytest.param(('title = "t"', "title ="), ["is not TOML", "line 2"], id="syntax"),
    ],
)
def test_a_script_that_does_not_fit_is_refused_by_file_key_and_remedy(
    tmp_path: Path, change: tuple[str, str], says: list[str]
) -> None:
    path = written(tmp_path, SCRIPT.replace(*change, 1))

    with pytest.raises(InvalidInput) as refused:
        read_script(path)

    for expected in ["update/odd.toml", *says]:
        assert expected in str(refused.value)


def test_what_another_user_told_is_no_label_of_ones_own(tmp_path: Path) -> None:
    path = written(tmp_path, SCRIPT.replace("[[question]]", '[[question]]\nuser = "bo"'))

    with pytest.raises(InvalidInput, match="'lyon', which is no label of what 'bo'"):
        read_script(path)


def test_what_is_refused_cannot_be_asked_for(tmp_path: Path) -> None:
    asked = SCRIPT.replace('"Lives in Lyon" }', '"Lives in Lyon", refused = true }')
    path = written(tmp_path, asked.replace('stale = ["lyon"]', 'must = ["lyon"]'))

    with pytest.raises(InvalidInput, match=r"question\.0\.must.*no label"):
        read_script(path)


def test_labels_are_not_given_twice(tmp_path: Path) -> None:
    second = '[{ label = "lyon", content = "Left Lyon" }]'
    path = written(tmp_path, SCRIPT.replace('[{ does = "retract", names = "lyon" }]', second))

    with pytest.raises(InvalidInput, match=r"proposes\.0\.label.*a label of its own"):
        read_script(path)


def test_directories_without_scripts_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="finds no <category>/<script>"):
        read_scripts(tmp_path)
    written(tmp_path, SCRIPT)
    with pytest.raises(InvalidInput, match=r"--category: names 'updates'.*use one of update"):
        read_scripts(tmp_path, categories=["updates"])
    (tmp_path / "astray.toml").write_text(SCRIPT, encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"holds astray\.toml beside"):
        read_scripts(tmp_path)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, SCRIPT)
    path.write_bytes(b"title = '\xff'")

    with pytest.raises(InvalidInput, match="is not UTF-8"):
        read_script(path)


def test_the_documented_script_is_one_that_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")
    section = page.partition("### memledger eval recall")[2]
    text = section.partition("```toml\n")[2].partition("```")[0]

    script = read_script(written(tmp_path, text))

    assert len(script.told()) == 2
    assert script.questions[0].must_not == ("carnival",)
