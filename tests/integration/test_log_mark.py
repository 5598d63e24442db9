"""A trial's log takes up a home whose read model is of the log before it, or of none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from deploy.home import Home
from deploy.prepare import holds_read_models
from deploy.supervisor.log_mark import LogMark, take_up_trial_log
from projections.read_model import open_read_model
from schemas.errors import ConfigurationError


def project_into(database_url: str) -> None:
    async def act() -> None:
        read_model = await open_read_model(
            database_url, generation="g1", embedder="e", dimension=8, migrate=True
        )
        await read_model.close()

    asyncio.run(act())


def test_only_the_read_model_of_a_log_that_is_known_to_be_gone_is_dropped_and_told(
    postgres_url: str, tmp_path: Path
) -> None:
    home = Home(tmp_path).make()
    told: list[str] = []
    project_into(postgres_url)
    # A pipeline on a given broker, of a version that made no marks, left this.
    with pytest.raises(ConfigurationError, match="nothing says of which log"):
        take_up_trial_log(home, "one", postgres_url, told.append)
    assert holds_read_models(postgres_url)
    assert LogMark.of(home) is None

    LogMark(lasting=False, log_id="one").write(home)
    take_up_trial_log(home, "one", postgres_url, told.append)
    assert holds_read_models(postgres_url)
    assert told == []

    take_up_trial_log(home, "two", postgres_url, told.append)
    assert not holds_read_models(postgres_url)
    assert len(told) == 1
    assert LogMark.of(home) == LogMark(lasting=False, log_id="two")

    home.log_mark_file.unlink()
    take_up_trial_log(home, "three", postgres_url, told.append)
    assert LogMark.of(home) == LogMark(lasting=False, log_id="three")
    assert len(told) == 1
