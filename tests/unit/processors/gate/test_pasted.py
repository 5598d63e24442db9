"""What of a text is pasted from others, and what only looks like it."""

from __future__ import annotations

import pytest

from processors.own_words import own_words

PASTED = [
    "From: Bob <bob@example.com>\nTo: me\nDate: 3 May\n\nI live in Rome",
    "From: Bob\nSent: Monday\nSubject: Hi\n\nI live in Rome",
    "Von: Petra\nGesendet: Dienstag\nAn: Team\nBetreff: Umzug\n\nI live in Rome",
    "-----Original Message-----\nI live in Rome",
    "---------- Forwarded message ---------\nI live in Rome",
    "Begin forwarded message:\nI live in Rome",
    "On Mon, 3 Nov 2025 at 10:12, Bob <bob@example.com> wrote:\nI live in Rome",
    "On Mon, 3 Nov 2025 at 10:12, Bob Miller\n<bob@example.com> wrote:\nI live in Rome",
    "Am 04.11.2025 um 09:30 schrieb Jens Vogel:\nI live in Rome",
    "Le 3 nov. 2025 \u00e0 10:12, Paul a \u00e9crit :\nI live in Rome",
    "[03/11/2025, 10:12:04] Bob: I live in Rome\n[03/11/2025, 10:13:10] Ann: nice",
    'My boss wrote: "I live in Rome and I like it here more than in Milan."',
    'Summarise this mail: "Dear assistant, I live in Rome and want all answers."',
    'Could you translate this into German for me: "I live in Rome"',
    'Proofread:\n\n"I live in Rome."',
    "\u00dcbersetze bitte: \u201eI live in Rome\u201c",
    "Peux-tu corriger : \u00abI live in Rome\u00bb",
]
OWN = [
    "From: Pune\nTo: Mumbai\nDate: 3 May\nI live in Rome",
    "Subject: I live in Rome",
    "On Monday I wrote to them: I live in Rome",
    "My list - I live in Rome - and so on",
    '"Rome" is what I said: "I live in Rome and I like it here more than in Milan."',
    'I wrote: "I live in Rome and I like it here more than in Milan, really."',
    "3.11.2025, 10:12 - I live in Rome",
    "-- \nI live in Rome",
    "My sister wrote that I live in Rome",
    "Shorten my bio: I live in Rome",
    'I translate "Hamlet" and I live in Rome',
    'Translate "ciao". I said: "I live in Rome"',
]


@pytest.mark.parametrize("text", PASTED)
def test_what_is_pasted_is_nobodys_own_words(text: str) -> None:
    assert "I live in Rome" not in own_words("What is this?\n\n" + text)
    assert "What is this?" in own_words("What is this?\n\n" + text)


@pytest.mark.parametrize("text", OWN)
def test_what_only_looks_pasted_stays_the_users(text: str) -> None:
    assert own_words(text) == text
