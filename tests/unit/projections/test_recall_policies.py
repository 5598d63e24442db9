"""Policies as data: what ships, what a file may add, and errors that name the field."""

from __future__ import annotations

from pathlib import Path

import pytest

from projections.recall_policies import Policies, Policy, shipped
from schemas.errors import ConfigurationError


def _read(tmp_path: Path, text: str) -> Policies:
    path = tmp_path / "policies.toml"
    path.write_text(text, "utf-8")
    return Policies.read(path)


def test_two_policies_ship_with_the_figures_that_they_promise() -> None:
    assert shipped() == {
        "gated": Policy(
            relevance_weight=1, recency_weight=0.1, episode_half_life_days=90, importance_step=0.05
        ),
        "weighted": Policy(
            relevance_weight=0.5,
            recency_weight=0.2,
            recency_a_day=0.99,
            importance_weight=0.3,
            pinned_importance=5,
        ),
    }


def test_without_a_file_everybody_is_served_by_gated() -> None:
    for tenant in (None, "acme"):
        assert Policies.read(None).of(tenant) == ("gated", shipped()["gated"])


def test_a_tenant_chooses_one_that_ships_or_one_of_the_file(tmp_path: Path) -> None:
    policies = _read(
        tmp_path,
        'default = "weighted"\n[policies.brief]\npins = 2\n'
        '[tenants]\nacme = "brief"\nacme-corp = "gated"\n',
    )
    assert policies.of("acme") == ("brief", Policy(pins=2))
    assert policies.of("acme-corp")[0] == "gated"
    assert policies.of("other")[0] == policies.of(None)[0] == "weighted"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        pytest.param('default = "strict"', "default: there is no policy 'strict'", id="default"),
        pytest.param('[tenants]\nacme = "x"', "tenants.acme: there is no policy 'x'", id="tenant"),
        pytest.param("[policies.gated]\npins = 1", "policies.gated", id="shipped-name"),
        pytest.param("[policies.p]\npin = 1", "policies.p.pin", id="unknown-field"),
        pytest.param("[policies.p]\npins = 101", "policies.p.pins", id="beyond-a-bound"),
        pytest.param("[policies.p]\nimportance_weight = nan", "importance_weight", id="no-number"),
        pytest.param("[policies.'A b']\npins = 1", "A b", id="name"),
        pytest.param(
            "[policies.p]\nepisode_half_life_days = 9\nrecency_a_day = 0.9",
            "give one",
            id="two-ways-to-age",
        ),
        pytest.param("policies = [", "is not TOML", id="no-toml"),
    ],
)
def test_what_cannot_be_used_is_an_error_that_names_it(
    tmp_path: Path, text: str, named: str
) -> None:
    with pytest.raises(ConfigurationError, match="MEMLEDGER_RECALL_POLICIES") as caught:
        _read(tmp_path, text)
    assert named in str(caught.value)


def test_a_file_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read"):
        Policies.read(tmp_path / "none.toml")
