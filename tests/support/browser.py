"""A headless Chromium, driven by its ChromeDriver over the W3C WebDriver protocol.

The protocol is JSON over HTTP, so it needs no library of its own, and nothing that fetches drivers.
"""

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal

import httpx

from tests.support.waiting import wait_until

VARIABLE: Final = "MEMLEDGER_TEST_BROWSER"
"""Set to ``chromium``, a browser that is missing fails the tests instead of leaving them out."""

_PROGRAMS: Final = ("chromium", "chromedriver")
_FLAGS: Final = (
    "--headless",
    "--no-sandbox",  # as root there is none
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # Whatever names a host of others fails at once, without asking anybody where it is.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
_STARTED: Final = re.compile(r"started successfully on port (\d+)")
_ELEMENT: Final = "element-6066-11e4-a52e-4f735466cecf"
_KEYS: Final = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Shift": "\ue008"}
_TIMEOUT_S: Final = 30.0


def missing_browser() -> str | None:
    """Return what is missing to drive a browser, and how to have it; ``None`` where it is there.

    Raises:
        AssertionError: it is missing, and the variable says that it must not be.
    """
    missing = [name for name in _PROGRAMS if shutil.which(name) is None]
    if not missing:
        return None
    reason = (
        f"no {' and no '.join(missing)} on the PATH: install the Debian packages chromium and "
        "chromium-driver, as `make browser` does"
    )
    assert os.environ.get(VARIABLE) != "chromium", f"{VARIABLE} is chromium, and there is {reason}"
    return reason


class Browser:
    """One window.

    Attributes:
        downloads: where downloads end up.
    """

    def __init__(self, client: httpx.Client, session: str, downloads: Path) -> None:
        """Hold a session; made by :func:`opened_browser`."""
        self._client = client
        self._session = session
        self.downloads = downloads

    def open(self, address: str) -> None:
        """Go to an address, and wait until it is loaded."""
        self._post("url", url=address)

    def run(self, script: str, *arguments: object) -> Any:
        """Return what a piece of JavaScript returns in the page, awaited."""
        return self._post("execute/sync", script=script, args=list(arguments))

    def wait(self, script: str, *arguments: object, what: str) -> Any:
        """Return the first truthy value of a piece of JavaScript."""
        return wait_until(
            lambda: self.run(f"return ({script})", *arguments), what=what, timeout_s=_TIMEOUT_S
        )

    def text(self, selector: str) -> str:
        """Return the text that an element shows."""
        return str(self.run("return document.querySelector(arguments[0]).innerText", selector))

    def click(self, selector: str) -> None:
        """Click an element as a person would: it must be there to be seen and hit."""
        self._post(f"element/{self._found(selector)}/click")

    def type(self, selector: str, text: str) -> None:
        """Put a text into a field in place of what is there."""
        found = self._found(selector)
        self._post(f"element/{found}/clear")
        self._post(f"element/{found}/value", text=text)

    def press(self, *keys: str) -> None:
        """Press keys together, such as ``Shift`` and ``Tab``, wherever the focus is."""
        values = [_KEYS.get(key, key) for key in keys]
        downs = [{"type": "keyDown", "value": value} for value in values]
        ups = [{"type": "keyUp", "value": value} for value in reversed(values)]
        self._post("actions", actions=[{"type": "key", "id": "keys", "actions": [*downs, *ups]}])

    def look(self, scheme: Literal["light", "dark"], *, width: int, height: int = 900) -> None:
        """Show pages in a colour scheme, as large as a screen of that many CSS pixels."""
        features = [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        self._devtools("Emulation.setEmulatedMedia", features=features)
        self._devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def save_screenshot(self, path: Path) -> None:
        """Write the whole page as a picture, also what lies below the window."""
        shot = self._devtools("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(shot["data"]))

    def console(self) -> list[str]:
        """Return what the browser complained about since it was last asked."""
        entries = self._post("se/log", type="browser")
        return [entry["message"] for entry in entries if entry["level"] in {"SEVERE", "WARNING"}]

    def history_entries(self) -> list[str]:
        """Return the addresses that the window's history holds."""
        history = self._devtools("Page.getNavigationHistory")
        return [entry["url"] for entry in history["entries"]]

    def _found(self, selector: str) -> str:
        found = self._post("element", using="css selector", value=selector)
        return str(found[_ELEMENT])

    def _devtools(self, command: str, **parameters: object) -> Any:
        return self._post("goog/cdp/execute", cmd=command, params=parameters)

    def _post(self, command: str, **body: object) -> Any:
        answer = self._client.post(f"/session/{self._session}/{command}", json=body).json()["value"]
        if isinstance(answer, dict) and "error" in answer:
            raise AssertionError(f"{command}: {answer['error']}: {answer['message']}")
        return answer


@contextmanager
def opened_browser(directory: Path) -> Iterator[Browser]:
    """Yield a browser with a new profile under a directory; end it and its driver afterwards."""
    downloads = directory / "downloads"
    downloads.mkdir()
    with _driver(directory) as url, httpx.Client(base_url=url, timeout=60) as client:
        options = {
            "args": [*_FLAGS, f"--user-data-dir={directory / 'profile'}"],
            "binary": shutil.which("chromium"),
            "prefs": {"download.default_directory": str(downloads)},
        }
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        answer = client.post("/session", json={"capabilities": {"alwaysMatch": wanted}}).json()
        assert "sessionId" in answer["value"], answer["value"]
        session = answer["value"]["sessionId"]
        try:
            yield Browser(client, session, downloads)
        finally:
            client.delete(f"/session/{session}")


@contextmanager
def _driver(directory: Path) -> Iterator[str]:
    log = directory / "driver.log"
    arguments: Sequence[str] = ("chromedriver", "--port=0", "--disable-build-check")
    with log.open("wb") as output:
        driver = subprocess.Popen(
            arguments,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env={**os.environ, "HOME": str(directory)},
        )
    try:
        started = wait_until(
            lambda: _STARTED.search(log.read_text("utf-8", "replace")),
            what="ChromeDriver to listen",
        )
        yield f"http://127.0.0.1:{started[1]}"
    finally:
        driver.terminate()
        driver.wait(20)
