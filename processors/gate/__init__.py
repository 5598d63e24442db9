"""The gate: the model proposes, code decides what may be kept.

Each rule is a pure function of one operation and of what was said, and all of them run, so that one
hit never hides another and their order does not matter. An operation is refused where any reason is
told; where each one is of ``schemas.events.LEFT_TO_A_PERSON``, a person decides. So it is of what
is trivia besides: a claim on the operator does not vanish because a model thinks little of it.

A fact of the operator's own systems obeys all rules but four. Nobody said it, so there is no quote
to be evidence (``evidence_in_own_words``), to be a question or a joke (``asserted``) or to be in
another script (``in_the_users_script``); and what a system tells of a refund is no claim
(``no_obligation``). What a person decides outside of any turn obeys all but the first three of
these; that a person asked for it is known, so that whoever judges it leaves out what needs asking.

Before an operation is judged, :func:`narrowed` cuts from its quote what must not be kept, where the
statement itself is clean: "I have coeliac disease, so I eat gluten-free" leaves the diet and its
own words. Whoever keeps the operation keeps the narrowed one.
"""

from processors.gate.narrowing import narrowed
from processors.gate.rules import RULES, Rule, refusals
from processors.gate.said import Said

__all__ = ["RULES", "Rule", "Said", "narrowed", "refusals"]
