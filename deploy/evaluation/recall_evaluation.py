"""One evaluation of recall by scripts, in stores that are gone afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from deploy.bench.stores import throwaway_home, throwaway_postgres
from deploy.embedded.postgres_databases import KEYRING_DATABASE
from deploy.evaluation.known_vectors import KnownVectors
from deploy.evaluation.recall_running import ScriptRun
from deploy.evaluation.recall_scoring import RecallScores, score_recall
from deploy.evaluation.recall_scripts import RecallScript
from deploy.evaluation.recall_site import open_site
from projections.recall_policies import Policies
from schemas.ports import Embedder


@dataclass(frozen=True, kw_only=True, slots=True)
class Databases:
    """Where an evaluation puts what was said.

    Attributes:
        read_model_url: an empty database with pgvector.
        keyring_url: an empty database; it may be the same one.
    """

    read_model_url: str
    keyring_url: str


async def evaluate_in_throwaway(
    scripts: Sequence[RecallScript],
    embedder: Embedder,
    *,
    thresholds: Sequence[float | None],
    policies: Policies | None = None,
) -> list[RecallScores]:
    """Evaluate in a Postgres of its own, which is gone afterwards.

    Raises:
        EmbeddedStoreError: it could not be started.
    """
    with throwaway_home() as home, throwaway_postgres(home) as postgres:
        databases = Databases(
            read_model_url=postgres.url(), keyring_url=postgres.url(KEYRING_DATABASE)
        )
        return await evaluate_in(
            databases, scripts, embedder, thresholds=thresholds, policies=policies
        )


async def evaluate_in(
    databases: Databases,
    scripts: Sequence[RecallScript],
    embedder: Embedder,
    *,
    thresholds: Sequence[float | None],
    policies: Policies | None = None,
) -> list[RecallScores]:
    """Tell scripts once and ask their questions at each threshold.

    Args:
        databases: empty ones.
        scripts: the scripts.
        embedder: gives vectors.
        thresholds: the least similarities; ``None`` for the embedder's own.
        policies: how memories are chosen; as they ship where none are given.

    Returns:
        The scores at each threshold.
    """
    vectors = KnownVectors(embedder)
    with TemporaryDirectory(prefix="memledger-keys-") as keys:
        async with open_site(
            database_url=databases.read_model_url,
            keyring_url=databases.keyring_url,
            key_directory=Path(keys),
            embedder=vectors,
        ) as site:
            run = ScriptRun(site, vectors, policies)
            misfits = await run.tell(scripts)
            return [
                score_recall(await run.ask(scripts, min_similarity=threshold), misfits)
                for threshold in thresholds
            ]
