"""The figures of recall, from answers that are made up."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from click.testing import CliRunner

from deploy.cli import main
from deploy.cli.recall_eval import holds
from deploy.evaluation.evidence import PublicSet
from deploy.evaluation.evidence_recall import EvidenceScores, Found, WayFound
from deploy.evaluation.known_vectors import KnownVectors
from deploy.evaluation.recall_labels import Misfit
from deploy.evaluation.recall_running import Answer, ServedNote
from deploy.evaluation.recall_scoring import RecallScores, score_recall
from deploy.evaluation.recall_scripts import Question, RecallScript
from projections.embedders.hashing import HashEmbedder
from projections.recall_policies import Policies, Policy
from schemas.ports import Vectors


def answer(
    *served: str | None,
    block: str | None = None,
    category: str = "update",
    held_out: bool = False,
    foreign: bool = False,
    **question: Any,
) -> Answer:
    asked = {"at": "2026-02-01T09:00:00Z", "asks": "Where do I live?", **question}
    script = RecallScript.model_validate(
        {
            "name": f"script-{category}",
            "category": category,
            "title": "t",
            "language": "en",
            "held_out": held_out,
            "question": [asked],
        }
    )
    notes = tuple(
        ServedNote(
            content=f"note {label}",
            labels=frozenset() if label is None else frozenset({label}),
            foreign=foreign,
        )
        for label in served
    )
    text = " ".join(note.content for note in notes)
    return Answer(
        script=script,
        question=Question.model_validate(asked),
        served=notes,
        block=text if block is None else block,
    )


def test_hits_stale_uses_and_unwanted_mentions_are_counted_apart() -> None:
    scores = score_recall(
        [
            answer("new", "old", "cat", must=["new", "missing"], stale=["old", "older"]),
            answer("new", "fine", must=["new"], may=["fine"]),
        ]
    )

    assert (scores.all.wanted, scores.all.hit) == (3, 2)
    assert (scores.all.stale_asked, scores.all.stale_served) == (2, 1)
    assert (scores.all.unwanted, scores.all.unwanted_questions, scores.all.served) == (1, 1, 5)
    assert scores.all.unwanted_mention_rate == 0.5
    assert [fault.missed for fault in scores.faults] == [("missing",)]
    assert scores.faults[0].unwanted == ("note cat",)


def test_what_has_no_label_is_unwanted_and_what_is_anothers_is_foreign_alone() -> None:
    scores = score_recall(
        [answer(None, must_not=["cat"]), answer(None, foreign=True, must_not=["cat"])]
    )

    assert (scores.all.unwanted, scores.all.foreign) == (1, 1)
    assert not scores.safe


def test_a_text_that_must_never_stand_in_a_block_is_harmful() -> None:
    scores = score_recall([answer("cat", block="<b>cat</b>", may=["cat"], never=["<b>", "dog"])])

    assert (scores.all.harmful, scores.faults[0].harmful) == (1, ("<b>",))
    assert not scores.safe


def test_questions_that_must_get_nothing_are_counted_by_what_they_got() -> None:
    scores = score_recall([answer(empty=True), answer("cat", empty=True)])

    assert (scores.all.empty_wanted, scores.all.empty) == (2, 1)
    assert scores.all.empty_rate == 0.5
    assert scores.all.unwanted_questions == 1


def test_tokens_are_those_of_blocks_that_are_not_empty() -> None:
    answers = [answer("a", block="word " * size, may=["a"], never=["-"]) for size in range(1, 101)]

    figures = score_recall([answer(empty=True), *answers]).all

    assert len(figures.tokens) == 100
    assert figures.tokens_mean == pytest.approx(sum(figures.tokens) / 100)
    assert figures.tokens_p95 == sorted(figures.tokens)[94]


def test_figures_without_anything_to_count_are_none() -> None:
    figures = score_recall([answer(never=["-"])]).all

    assert (figures.hit_rate, figures.stale_use_rate, figures.empty_rate) == (None, None, None)
    assert (figures.tokens_mean, figures.tokens_p95) == (None, None)
    assert figures.unwanted_mention_rate == 0


def test_categories_stand_in_their_order_and_held_out_scripts_apart() -> None:
    scores = score_recall(
        [
            answer("a", must=["a"], category="zoo"),
            answer(must=["a"], category="language", held_out=True),
            answer("a", must=["a"], category="persistence"),
        ]
    )

    assert list(scores.by_category) == ["persistence", "language", "zoo"]
    assert (scores.shown.hit_rate, scores.held_out.hit_rate) == (1, 0)
    assert (scores.all.scripts, scores.shown.scripts, scores.held_out.scripts) == (3, 2, 1)
    assert scores.safe


@pytest.mark.parametrize(
    ("floors", "kept"),
    [
        ({}, True),
        ({"at_least_hit": 0.5}, True),
        ({"at_least_hit": 0.6}, False),
        ({"at_most_unwanted": 0.5}, True),
        ({"at_most_unwanted": 0.4}, False),
    ],
)
def test_a_run_fails_where_a_floor_is_missed(floors: dict[str, float], kept: bool) -> None:
    scores = score_recall([answer("cat", must=["a"]), answer("a", must=["a"])])

    assert (scores.all.hit_rate, scores.all.unwanted_mention_rate) == (0.5, 0.5)
    assert holds(scores, **{"at_least_hit": None, "at_most_unwanted": None, **floors}) is kept


def test_a_run_fails_where_nothing_was_asked_for_and_a_hit_rate_is_wanted() -> None:
    scores = score_recall([answer(empty=True)])

    assert holds(scores, at_least_hit=None, at_most_unwanted=0)
    assert not holds(scores, at_least_hit=0, at_most_unwanted=None)


def test_a_run_fails_where_a_user_saw_anothers_memory_or_a_script_went_otherwise() -> None:
    foreign = score_recall([answer("a", must=["a"], foreign=True)])
    misfit = Misfit(script="s", place="session.0", label=None, expected="stored", got="secret")

    assert not holds(foreign, at_least_hit=None, at_most_unwanted=None)
    assert not holds(score_recall([], [misfit]), at_least_hit=None, at_most_unwanted=None)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--min-similarity", "0.5", "--sweep", "0.1"], "leave out --min-similarity"),
        (["--sweep", "0.1,much"], "'much'"),
        (["--min-similarity", "1.5"], "-1<=x<=1"),
        (["--category", "nothing"], "use one of persistence, update"),
        (["--policy", "luck"], "name one of gated, weighted"),
        (["--embedder", "nobody"], "set it to minilm, openai or hash"),
    ],
)
def test_the_verb_says_what_it_cannot_use(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], says: str
) -> None:
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))

    result = CliRunner().invoke(main, ["eval", "recall", *arguments])

    assert result.exit_code == 2
    assert says in result.stdout + result.stderr


def test_policies_of_the_settings_can_be_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def run(*_: Any, policies: Policies, **__: Any) -> list[RecallScores]:
        assert policies.of(None) == ("short", Policy(budget_tokens=50))
        return [score_recall([answer("a", must=["a"])])]

    (tmp_path / "policies.toml").write_text("[policies.short]\nbudget_tokens = 50\n", "utf-8")
    monkeypatch.setattr("deploy.cli.recall_eval.evaluate_in_throwaway", run)
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MEMLEDGER_RECALL_POLICIES", str(tmp_path / "policies.toml"))

    arguments = ["eval", "recall", "--embedder", "hash", "--json", "--policy"]
    named, unknown = (CliRunner().invoke(main, [*arguments, name]) for name in ("short", "long"))

    assert named.exit_code == 0, named.output
    assert json.loads(named.stdout)["policy"] == "short"
    assert unknown.exit_code == 2


class _Counting(HashEmbedder):
    def __init__(self) -> None:
        super().__init__(dimension=16)
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return await super().embed(texts)


def test_an_embedder_is_asked_about_each_text_once() -> None:
    counting = _Counting()
    vectors = KnownVectors(counting)

    async def asked() -> tuple[Vectors, Vectors]:
        await vectors.learn(["a", "b", "a"])
        return await vectors.embed(["b", "c", "b"]), await counting.embed(["b", "c", "b"])

    known, fresh = asyncio.run(asked())

    assert np.array_equal(known, fresh)
    assert counting.asked[:3] == ["a", "b", "c"]
    assert asyncio.run(vectors.embed([])).shape == (0, 16)


LOCOMO: Final = [
    {
        "sample_id": "talk-1",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"dia_id": "D1:1", "speaker": "Ann", "text": "I keep bees."}],
        },
        "qa": [{"question": "What does Ann keep?", "category": 4, "evidence": ["D1:1"]}],
    }
]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--sweep", "0.1"], "--sweep cannot be given here"),
        (["--category", "update"], "--category cannot be given here"),
        (["--at-least-hit", "0.1"], "--at-least-hit cannot be given here"),
        (["--longmemeval", "other.json"], "--longmemeval cannot be given here"),
        ([], "cannot be read as LoCoMo"),
    ],
)
def test_a_public_set_is_measured_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], says: str
) -> None:
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    missing = str(tmp_path / "missing.json")

    result = CliRunner().invoke(main, ["eval", "recall", "--locomo", missing, *arguments])

    assert result.exit_code == 2
    assert says in result.stdout + result.stderr


@pytest.mark.parametrize("as_json", [False, True])
def test_the_evidence_found_in_a_public_set_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, as_json: bool
) -> None:
    found = Found(shares=[(0.5, 1.0, 1.0), (0.0, 0.5, 1.0)])
    scores = EvidenceScores(
        name="locomo",
        embedder="hash-v1:384",
        talks=1,
        turns=1,
        questions=2,
        left_out={"without evidence": 3},
        ways=(WayFound(way="blend", all=found, by_kind={"temporal": found}, by_talk={}),),
    )
    held: list[PublicSet] = []

    async def run(public_set: PublicSet, *_: Any, **__: Any) -> EvidenceScores:
        held.append(public_set)
        return scores

    monkeypatch.setattr("deploy.cli.evidence_eval.run_public_set", run)
    monkeypatch.setenv("MEMLEDGER_HOME", str(tmp_path / "home"))
    (tmp_path / "set.json").write_text(json.dumps(LOCOMO), encoding="utf-8")
    arguments = ["--locomo", str(tmp_path / "set.json"), "--embedder", "hash"]

    result = CliRunner().invoke(
        main, ["eval", "recall", *arguments, *(["--json"] if as_json else [])]
    )

    assert result.exit_code == 0, result.output
    assert [talk.asked[0].asks for talk in held[0].talks] == ["What does Ann keep?"]
    if as_json:
        told = json.loads(result.stdout)
        assert told["ways"]["blend"]["all"] == {
            "questions": 2,
            "recall_at_5": 0.25,
            "recall_at_10": 0.75,
            "recall_at_20": 1.0,
        }
        assert told["left_out"] == {"without evidence": 3}
    else:
        assert "75.0%" in result.stdout
        assert "left out: 3 without evidence" in result.stdout
