"""Adding to a session's proposal what the session came to."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

from processors.storable import readable
from schemas.errors import ExtractionFailed, ExtractorUnavailable
from schemas.ports import Extraction
from schemas.proposals import Proposal, Usage
from schemas.summaries import ProposedSummary, WithoutSummary

logger = logging.getLogger(__name__)


async def summarised(
    proposal: Proposal, summary: ProposedSummary, ask: Callable[[], Awaitable[Extraction]]
) -> Proposal:
    """Return a proposal with the summary that is asked for, or with why there is none.

    Whatever becomes of that, the proposal stands: its operations may be paid for.

    Args:
        proposal: the proposal for the session.
        summary: all of the summary but its text.
        ask: asks the extractor once; what else it raises than that there is no answer prevents
            the call, and is raised where nothing was paid for yet.
    """
    text: str | None = None
    without: WithoutSummary | None = None
    usage = Usage()
    stop_reasons: tuple[str, ...] = ()
    try:
        answer = await ask()
    except ExtractorUnavailable as error:
        without, usage = WithoutSummary.UNAVAILABLE, error.usage
    except ExtractionFailed as error:
        logger.warning("no summary of a session: %s", type(error).__name__)
        without, usage = WithoutSummary.FAILED, error.usage
        stop_reasons = error.stop_reasons
    except Exception:
        if proposal.usage == Usage():
            raise
        without = WithoutSummary.UNAVAILABLE
    else:
        text = None if answer.summary is None else readable(answer.summary)
        usage, stop_reasons = answer.usage, answer.stop_reasons
        without = WithoutSummary.FAILED if text is None else None
    return proposal.model_copy(
        update={
            "summary": summary.model_copy(update={"text": text, "without": without}),
            "usage": proposal.usage + usage,
            "stop_reasons": (*proposal.stop_reasons, *stop_reasons),
        }
    )
