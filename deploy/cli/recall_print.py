"""How ``memledger recall`` shows why it served what it served."""

from __future__ import annotations

from typing import Final

import click

from deploy.cli.output import console, shown, table
from projections.recall import Candidate, Explanation, LeftOut, TokenUse, Verdict

WHY: Final = {
    Verdict.PINNED: "in: pinned",
    Verdict.SAFETY: "in: the user's safety",
    Verdict.RULE: "in: a rule",
    Verdict.SIMILAR: "in: near in meaning",
    Verdict.WORDS: "in: by its words",
    Verdict.TOPIC: "in: of the topic asked about",
    Verdict.BELOW_THRESHOLD: "out: below the threshold",
    Verdict.DUPLICATE: "out: says the same as one served",
    Verdict.LIMIT: "out: beyond the limit",
    Verdict.CAP: "out: beyond the policy's cap",
    Verdict.BUDGET: "out: no room in the budget",
}
"""What the text output says of each verdict."""


def print_left_out(left_out: LeftOut, tokens: TokenUse) -> None:
    """Say what was to be served and was not; nothing where all was."""
    parts = [
        (left_out.pins, "pinned, beyond the policy's cap"),
        (left_out.safety, "for the user's safety, beyond the cap"),
        (left_out.rules, "rules, beyond the cap"),
        (left_out.limit, "near enough, beyond --limit"),
        (left_out.budget, f"for which {tokens.budget:,} tokens had no room"),
        (left_out.duplicates, "that say the same as one served"),
    ]
    told = [f"{number:,} {what}" for number, what in parts if number]
    if told:
        click.echo(f"left out: {'; '.join(told)}")


def print_explanation(explanation: Explanation, tokens: TokenUse) -> None:
    """Show threshold and words, and each candidate's parts."""
    nearest = "none" if explanation.nearest is None else f"{explanation.nearest:.2f}"
    click.echo(
        f"\n{explanation.embedder}: threshold {explanation.min_similarity:.2f}, "
        f"{explanation.stored} held true, {explanation.searched} searched, nearest {nearest}"
    )
    words = ", ".join(map(shown, explanation.words)) or "none"
    click.echo(
        f"words: {words}; from {explanation.min_share:.0%} of their weight on they are enough"
    )
    counted = "counted" if tokens.exact else "estimated"
    click.echo(f"notes: {tokens.used:,} of {tokens.budget:,} tokens, {counted} ({tokens.counter})")
    if explanation.candidates:
        rows = table(
            "why", "memory", "final", "cosine", "words", "share", "blend", "recency", "importance"
        )
        for candidate in explanation.candidates:
            rows.add_row(*_row(candidate))
        console().print(rows)
    for verdict, number in explanation.unlisted.items():
        click.echo(f"and {number:,} {WHY[verdict]}")


def _row(candidate: Candidate) -> list[str]:
    words = " ".join(map(shown, candidate.words))
    return [
        WHY[candidate.verdict],
        shown(candidate.content),
        f"{candidate.final:.3f}",
        "" if candidate.cosine is None else f"{candidate.cosine:.3f}",
        f"{candidate.bm25:.2f} {words}" if words else "",
        f"{candidate.share:.0%}",
        f"{candidate.relevance:.3f}",
        f"{candidate.recency:.2f}",
        f"{candidate.importance}",
    ]
