"""Without a browser the page's tests are left out and say why, or fail where they must not be."""

from __future__ import annotations

import shutil

import pytest

from tests.support.browser import VARIABLE, missing_browser


@pytest.mark.parametrize("missing", ["chromium", "chromedriver"])
def test_what_is_missing_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else f"bin/{name}")
    reason = missing_browser()
    assert reason is not None
    assert reason.startswith(f"no {missing} on the PATH: install the Debian packages chromium")


def test_a_browser_that_must_be_there_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "chromium")
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(AssertionError, match="no chromium and no chromedriver"):
        missing_browser()


def test_nothing_is_said_of_one_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: f"bin/{name}")
    assert missing_browser() is None
