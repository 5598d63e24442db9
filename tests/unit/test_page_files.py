"""The page's files: they come with headers that shut strangers out, and load nothing from them."""

from __future__ import annotations

import asyncio
import re
import tomllib
from html.parser import HTMLParser
from typing import Final

import httpx
import pytest
from fastapi import FastAPI

from deploy.processes.page import PAGE_PATH, page_link, page_routes
from schemas.http import MEDIA_TYPE, install_problem_handlers
from schemas.slots import Slot
from tests.support.documents import ROOT

DIRECTORY: Final = ROOT / "deploy" / "page"
SCRIPTS: Final = sorted(DIRECTORY.glob("*.js"))
TYPES: Final = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}

# Ways to have a text parsed as markup or run, and places that outlive the page.
_FORBIDDEN: Final = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|setHTML|document\.write|DOMParser|createContextual"
    r"|\beval\b|new Function|localStorage|sessionStorage|indexedDB|\.cookie|sendBeacon|//\w+\."
)


class _Page(HTMLParser):
    """Notes what a page loads, and what stands in it that its policy forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.inline: list[str] = []
        self._in = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        for name, value in attrs:
            if name in {"src", "href"}:
                self.loads.append(value or "")
            if name == "style" or name.startswith("on"):
                self.inline.append(f"{tag} {name}")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the parser's signature
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in {"script", "style"} and data.strip():
            self.inline.append(self._in)


def get(path: str) -> httpx.Response:
    async def ask() -> httpx.Response:
        app = FastAPI()
        install_problem_handlers(app)
        app.routes.extend(page_routes())
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            return await client.get(path)

    return asyncio.run(ask())


def test_every_file_is_served_as_what_it_is() -> None:
    page = get(PAGE_PATH)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.content == (DIRECTORY / "index.html").read_bytes()
    parts = [file for file in DIRECTORY.iterdir() if file.name != "index.html"]
    assert len(parts) > 3
    for file in parts:
        answer = get(f"{PAGE_PATH}/{file.name}")
        assert answer.status_code == 200, file.name
        assert answer.content == file.read_bytes()
        assert answer.headers["content-type"].split(";")[0] == TYPES[file.suffix]


@pytest.mark.parametrize("path", ["/memory", "/memory/page.js", "/memory/page.css"])
def test_nobody_else_may_load_frame_or_keep_anything(path: str) -> None:
    headers = get(path).headers
    policy = dict(
        directive.strip().split(" ", 1)
        for directive in headers["content-security-policy"].split(";")
    )
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self'",
        "connect-src": "'self'",
        "base-uri": "'none'",
        "form-action": "'none'",
        "frame-ancestors": "'none'",
        "require-trusted-types-for": "'script'",
        "trusted-types": "'none'",
    }
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize(
    "part", ["index.html", "secret", "..", "%2e%2e%2fpage.py", "page.js%00", "PAGE.JS"]
)
def test_what_is_no_part_of_the_page_is_not_found(part: str) -> None:
    answer = get(f"{PAGE_PATH}/{part}")
    assert (answer.status_code, answer.headers["content-type"]) == (404, MEDIA_TYPE)


def test_the_page_loads_its_own_parts_alone_and_holds_nothing_inline() -> None:
    page = _Page()
    page.feed((DIRECTORY / "index.html").read_text("utf-8"))
    assert page.inline == []
    assert len(page.loads) == 3
    for address in page.loads:
        # Relative, so that the page can also be served under a path of its own.
        assert (DIRECTORY / address.removeprefix("memory/")).is_file(), address


def test_what_would_be_inline_is_found() -> None:
    page = _Page()
    page.feed('<p style="x" onclick="y"></p><script>1</script><style>a{}</style><img src="z">')
    assert page.inline == ["p style", "p onclick", "script", "style"]
    assert page.loads == ["z"]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_parses_no_text_keeps_nothing_and_names_no_host(script: str) -> None:
    text = (DIRECTORY / script).read_text("utf-8")
    assert _FORBIDDEN.findall(text) == []
    for imported in re.findall(r'from "([^"]+)"', text):
        assert (DIRECTORY / imported).is_file(), imported
    assert len(text.splitlines()) <= 400


@pytest.mark.parametrize(
    "line", ["it.innerHTML = text", 'import "https://cdn.example/x.js"', "eval(text)"]
)
def test_what_a_script_must_not_do_is_found(line: str) -> None:
    assert _FORBIDDEN.findall(line)


def test_every_attribute_of_a_memory_has_a_word_on_the_page() -> None:
    words = (DIRECTORY / "words.js").read_text("utf-8")
    (slots,) = re.findall(r"const SLOTS = \{(.*?)\};", words, re.DOTALL)
    assert set(re.findall(r"(\w+): \"", slots)) == {slot.value for slot in Slot}


def test_every_kind_of_file_of_the_page_is_packaged() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    packaged = project["tool"]["setuptools"]["package-data"]["*"]
    assert {f"*{file.suffix}" for file in DIRECTORY.iterdir()} <= set(packaged)


def test_the_token_stands_behind_the_part_that_servers_are_sent() -> None:
    link = page_link("https://chat.example/ml/", "mlu_a.b")
    assert link == "https://chat.example/ml/memory#token=mlu_a.b"
    assert "mlu_" not in str(httpx.URL(link).copy_with(fragment=None))
