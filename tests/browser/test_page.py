"""The page on which users see what is remembered of them, in a browser, on real stores."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, cast

import pytest

from deploy.embedded import EmbeddedPostgres
from projections.recall import Recall
from schemas.memory import Confidence, MemoryKind
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests import conftest
from tests.browser.scene import PageScene, page_scene
from tests.conftest import GENERATION, PARTITIONS, TestStores, recreate_topics
from tests.support.browser import Browser, missing_browser, opened_browser
from tests.support.log_writer import at
from tests.support.stored import Stored
from tests.support.waiting import wait_until

AUDIT: Final = Path(__file__).with_name("audit.js").read_text("utf-8")
SHOTS: Final = "MEMLEDGER_TEST_SCREENSHOTS"
"""Names a directory in which pictures of the page are left, for people to look at."""

HOSTILE: Final = {
    "markup": "<script>window.broken = 1</script><img src=x onerror='window.broken = 2'>",
    "closing tags": "</p></li></ol></main><h1>Gone</h1>&lt;b&gt; ${1} {{2}}",
    "unseen": "Likes tea\U000e0049\U000e0067\U000e006e",
    "unbroken": "x" * 2_000,
    "turned": "\u202eegarots rof\u2066 Keeps \u202c\u202dreceipts",
    "right to left": "يعيش في القاهرة (Cairo)",
    "signs": "👩‍👩‍👧 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f ✈️ 寿司が好き",
}
NAME_OF: Final = (
    "(it) => it.getAttribute('aria-label') ?? it.labels?.[0]?.innerText.trim() ?? it.innerText"
)
LINES: Final = 30
"""More than one page of the list."""

fresh_database = contextmanager(conftest._fresh_database)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    missing = missing_browser()
    if missing is not None:
        pytest.skip(missing)
    with opened_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def scene(
    browser: Browser,  # noqa: ARG001 - without one nothing needs to be started
    postgres: EmbeddedPostgres,
    kafka_bootstrap: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[PageScene]:
    recreate_topics(kafka_bootstrap)
    with fresh_database(postgres) as database_url, fresh_database(postgres) as keyring_url:
        stores = TestStores(
            database_url=database_url,
            keyring_url=keyring_url,
            kafka_bootstrap=kafka_bootstrap,
            key_directory=tmp_path_factory.mktemp("page") / "keys",
            generation=GENERATION,
            partitions=PARTITIONS,
        )
        with page_scene(stores) as running:
            yield running


def fact(content: str, quote: str, slot: Slot = Slot.NOTE) -> Operation:
    return Operation(
        action=Action.ADD,
        kind=MemoryKind.SEMANTIC,
        slot=slot,
        about="user",
        content=content,
        importance=3,
        confidence=Confidence.STATED,
        quote=quote,
    )


def tell_story(scene: PageScene, user: str) -> None:
    """Have three things noted of a user, one of them changed since."""
    homes = ("Bangalore", "Pune")
    for home in homes:
        said = f"I live in {home} now"
        scene.say(user, said, fact(f"Lives in {home}", said, Slot.RESIDENCE))
    said = "I am a vegetarian and I play the cello"
    scene.say(
        user,
        said,
        fact("Is a vegetarian", "I am a vegetarian", Slot.DIET),
        fact("Plays the cello", "I play the cello", Slot.ROUTINE),
    )


def store(scene: PageScene, user: str, *contents: str) -> None:
    """Store memories as they are, whatever the gate would say of them, the newest first."""

    async def insert() -> None:
        keys = await scene.process.keys_of(user)
        tables = Stored(read_model=scene.process.read_model, recall=cast("Recall", None))
        for age, content in enumerate(contents):
            await tables.add(
                keys.subject,
                cosine=None,
                content=content,
                quote=content,
                recorded_at=at(-age),
                valid_from=at(-age),
            )

    scene.ask(insert())


def visit(browser: Browser, scene: PageScene, user: str, **options: Any) -> None:
    """Open a user's page and wait for its list."""
    browser.open("about:blank")
    browser.open(scene.link(user, **options))
    shows(browser, user)


def shows(browser: Browser, user: str) -> None:
    """Wait until the page shows the list of a user."""
    browser.wait(
        "document.querySelector('#user').textContent === arguments[0] && "
        "(document.querySelector('#memories > li') || "
        "!document.querySelector('#none').hidden)",
        user,
        what=f"the list of {user}",
    )


def contents(browser: Browser) -> list[str]:
    """Return what the list shows."""
    script = "return [...document.querySelectorAll('#memories > li > .what')]"
    return [str(content) for content in browser.run(f"{script}.map((it) => it.textContent)")]


def item(browser: Browser, content: str) -> str:
    """Return a selector of the item that shows a content."""
    return f"#memories > li:nth-child({contents(browser).index(content) + 1})"


def focused(browser: Browser) -> str:
    """Return what has the focus, as its label or its text."""
    return str(browser.run(f"return ({NAME_OF})(document.activeElement)"))


def told(browser: Browser, text: str) -> None:
    """Wait until the page says something."""
    browser.wait(
        "document.querySelector('#says').innerText.includes(arguments[0])",
        text,
        what=f"the page to say {text!r}",
    )


def test_what_is_remembered_is_listed_and_a_history_shows_the_words(
    scene: PageScene, browser: Browser
) -> None:
    tell_story(scene, "ann")
    visit(browser, scene, "ann")
    assert sorted(contents(browser)) == ["Is a vegetarian", "Lives in Pune", "Plays the cello"]
    home = item(browser, "Lives in Pune")
    assert "Home since" in browser.text(f"{home} .about")
    assert browser.text(f"{home} .about").endswith("you said so")

    browser.click(f"{home} .history")
    browser.wait("document.querySelectorAll('.past li').length === 2", what="both versions")
    now, before = browser.run(
        "return [...document.querySelectorAll('.past li')].map((it) => it.innerText)"
    )
    assert "Holds now" in now
    assert "I live in Pune now" in now
    assert "Lives in Bangalore" in before
    assert "until" in before
    assert "I live in Bangalore now" in before
    expanded = "return document.querySelector(arguments[0]).ariaExpanded"
    assert browser.run(expanded, f"{home} .history") == "true"
    browser.click(f"{home} .history")
    assert browser.run(expanded, f"{home} .history") == "false"
    assert browser.console() == []


def test_words_are_searched_for_on_all_pages(scene: PageScene, browser: Browser) -> None:
    lines = [f"Line {number}" for number in range(LINES)]
    store(scene, "sue", *lines, "Wohnt in Zürich")
    visit(browser, scene, "sue")
    assert contents(browser) == lines[:25]
    browser.click("#more")
    browser.wait("document.querySelector('#more').hidden", what="the second page")
    assert contents(browser) == [*lines, "Wohnt in Zürich"]
    assert "Line 25" in focused(browser)

    browser.type("#query", "ZURICH wohnt")
    browser.press("Enter")
    told(browser, "1 memory shown")
    assert contents(browser) == ["Wohnt in Zürich"]
    browser.type("#query", "<b>nowhere")
    browser.press("Enter")
    browser.wait("!document.querySelector('#none').hidden", what="nothing to be found")
    assert browser.text("#none") == "Nothing is found for “<b>nowhere”."
    browser.click("#all")
    told(browser, "25 memories shown, and there are more")


def test_a_correction_shows_once_it_holds_and_a_refused_one_says_why(
    scene: PageScene, browser: Browser
) -> None:
    said = "I work at Acme since May"
    scene.say("cal", said, fact("Works at Akme", said, Slot.EMPLOYER))
    visit(browser, scene, "cal")
    browser.click(".correct")
    assert browser.run("return document.activeElement.tagName") == "TEXTAREA"
    browser.press("Escape")
    assert focused(browser) == "Correct: Works at Akme"

    browser.press("Enter")
    browser.type("textarea", "My password is Tr0ub4dor&3")
    browser.click("form.correction [type=submit]")
    told(browser, "Nothing was changed: it looks like a secret")
    browser.type("textarea", "Works at Acme")
    browser.click("form.correction [type=submit]")
    told(browser, "Saved.")
    assert contents(browser) == ["Works at Acme"]
    assert focused(browser) == "Correct: Works at Acme"
    (memory,) = listed(scene, "cal")
    assert (memory["content"], memory["source"]) == ("Works at Acme", "curation")


def test_what_is_pinned_is_marked(scene: PageScene, browser: Browser) -> None:
    said = "Keep in mind that I use a wheelchair"
    scene.say("pia", said, fact("Uses a wheelchair", said, Slot.NEED))
    visit(browser, scene, "pia")
    assert "Pinned" not in browser.text("#memories .about")
    browser.click("#memories .pin")
    told(browser, "Saved.")
    assert browser.text("#memories .about").startswith("Pinned")
    assert listed(scene, "pia")[0]["pinned_at"] is not None
    assert focused(browser) == "Unpin: Uses a wheelchair"
    browser.press("Enter")
    browser.wait("document.querySelector('#memories .pinned').hidden", what="the mark to go")
    assert listed(scene, "pia")[0]["pinned_at"] is None


def test_a_deletion_is_confirmed_first_and_takes_the_past_along(
    scene: PageScene, browser: Browser
) -> None:
    tell_story(scene, "del")
    visit(browser, scene, "del")
    browser.click(f"{item(browser, 'Lives in Pune')} .remove")
    assert focused(browser) == "Keep it"
    assert browser.text("#deletion-what") == "Lives in Pune"
    assert audited(browser) == []
    browser.press("Escape")
    assert focused(browser) == "Delete: Lives in Pune"
    assert len(contents(browser)) == 3

    browser.press("Enter")
    browser.click("#delete")
    told(browser, "Deleted.")
    assert sorted(contents(browser)) == ["Is a vegetarian", "Plays the cello"]
    assert all("Lives in" not in memory["content"] for memory in listed(scene, "del", history=True))
    assert browser.run("return document.activeElement.className") == "memory"


def test_memory_is_paused_and_resumed(scene: PageScene, browser: Browser) -> None:
    visit(browser, scene, "pat")
    assert browser.text("#none") == "Nothing is remembered about you."
    browser.click("#pause")
    told(browser, "Memory is paused.")
    assert browser.text("#pause-title") == "Memory is paused"
    turn = {"user_id": "pat", "conversation_id": "c", "user_text": "I like tea"}
    assert scene.client.post("/v1/turns", json=turn).json()["withheld"] == "paused"
    browser.click("#pause")
    told(browser, "Memory is on again.")
    assert scene.client.get("/v1/pause", params={"user_id": "pat"}).json()["paused"] is False


def test_everything_is_taken_along_as_one_file(scene: PageScene, browser: Browser) -> None:
    tell_story(scene, "tam")
    visit(browser, scene, "tam")
    browser.click("#export")
    told(browser, "Downloaded as memories.json.")
    file = browser.downloads / "memories.json"
    wait_until(file.exists, what="the download")
    document = json.loads(file.read_text("utf-8"))
    assert document["complete"]
    assert {memory["quote"] for memory in document["memories"]} >= {
        "I live in Bangalore now",
        "I live in Pune now",
    }
    answer = scene.client.get("/v1/export", params={"user_id": "tam"})
    assert document["memories"] == answer.json()["memories"]


def shows_chats(browser: Browser) -> bool:
    return bool(browser.run("return document.querySelector('#chats').checkVisibility()"))


def test_what_chats_came_to_is_shown_as_text_and_goes_with_its_memory(
    scene: PageScene, browser: Browser
) -> None:
    visit(browser, scene, "sol")
    assert not shows_chats(browser)
    said = "I live in Pune now <b>&amp;"
    scene.say("sol", said, fact("Lives in Pune", said, Slot.RESIDENCE))
    scene.end_chat("sol")
    browser.click("#reload")
    summaries = "return [...document.querySelectorAll('#summaries .what')].map(it => it.innerText)"
    wait_until(lambda: browser.run(summaries) == [said], what="the summary")
    listed = scene.client.get("/v1/export", params={"user_id": "sol"}).json()["summaries"]
    assert [one["summary"] for one in listed] == [said]
    browser.click(".remove")
    browser.click("#delete")
    wait_until(lambda: browser.run(summaries) == [], what="the summary to be gone")
    assert not shows_chats(browser)


def test_whatever_a_memory_holds_is_shown_as_text(scene: PageScene, browser: Browser) -> None:
    store(scene, "eve", *HOSTILE.values())
    browser.look("light", width=320)
    visit(browser, scene, "eve")
    assert contents(browser) == list(HOSTILE.values())
    browser.click("#memories > li:first-child .history")
    browser.wait("document.querySelector('.past .quote')", what="the words")
    assert browser.text(".past .quote") == HOSTILE["markup"]
    browser.click(f"{item(browser, HOSTILE['closing tags'])} .remove")
    assert browser.text("#deletion-what") == HOSTILE["closing tags"]
    browser.press("Escape")

    assert browser.run("return window.broken ?? null") is None
    assert browser.run("return document.querySelectorAll('h1, script, img').length") == 2
    assert audited(browser) == []
    unseen = browser.run(
        "return [...document.querySelectorAll('#memories > li > .unseen')].map((it) => !it.hidden)"
    )
    assert dict(zip(HOSTILE, unseen, strict=True)) == {
        name: name in {"unseen", "turned"} for name in HOSTILE
    }
    assert (
        browser.run(
            "return getComputedStyle(document.querySelector(arguments[0])).direction",
            f"{item(browser, HOSTILE['right to left'])} .what",
        )
        == "rtl"
    )
    assert browser.console() == []


@pytest.mark.parametrize(
    ("scheme", "width"),
    [("light", 1024), ("dark", 1024), ("light", 320), ("dark", 320)],
    ids=["light", "dark", "light and narrow", "dark and narrow"],
)
def test_everybody_can_read_and_reach_all_of_it(
    scene: PageScene, browser: Browser, scheme: Literal["light", "dark"], width: int
) -> None:
    user = f"{scheme}{width}"
    store(scene, user, "Lives in Pune", "Is allergic to peanuts", "x" * 300)
    browser.look(scheme, width=width)
    visit(browser, scene, user)
    assert browser.run("return matchMedia('(prefers-color-scheme: dark)').matches") == (
        scheme == "dark"
    )
    told(browser, "3 memories shown")
    browser.click("#memories > li:nth-child(1) .history")
    browser.wait("document.querySelector('.past li')", what="the history")
    browser.click("#memories > li:nth-child(2) .correct")
    assert audited(browser) == []
    keep_picture(browser, user)
    controls = browser.run(
        f"const named = {NAME_OF}; return [...document.querySelectorAll('button, input, textarea')]"
        ".filter((it) => it.checkVisibility()).map(named)"
    )
    assert tabbed_through(browser, len(controls)) == controls


def test_the_token_is_kept_in_memory_alone(scene: PageScene, browser: Browser) -> None:
    tell_story(scene, "tok")
    visit(browser, scene, "tok")
    token = "mlu_"
    assert not [entry for entry in browser.history_entries() if token in entry]
    assert (
        browser.run(
            "return [location.href, document.cookie, JSON.stringify(localStorage), "
            "JSON.stringify(sessionStorage)].join(' ')"
        )
        == f"{scene.url}/memory  {{}} {{}}"
    )
    fetched = browser.run("return performance.getEntriesByType('resource').map((it) => it.name)")
    assert len(fetched) > 3
    assert not [name for name in fetched if token in name or not name.startswith(scene.url)]
    bearer = {"authorization": f"Bearer {scene.token('tok')}"}
    answer = scene.client.get("/v1/me/memories", headers=bearer)
    assert (answer.headers["cache-control"], "etag" in answer.headers) == ("no-store", False)
    browser.run("location.reload()")
    browser.wait("!document.querySelector('#closed').hidden", what="the page to ask for a new link")
    assert browser.text("#closed-title") == "Open this page from your app"
    assert contents(browser) == []


def test_a_token_that_ends_takes_what_it_showed_with_it(scene: PageScene, browser: Browser) -> None:
    tell_story(scene, "end")
    visit(browser, scene, "end", lifetime_s=2)
    browser.wait("!document.querySelector('#closed').hidden", what="the end to be told")
    assert browser.text("#closed-title") == "This link has ended"
    assert "open the page from there again" in browser.text("#closed-text")
    assert "Pune" not in browser.text("body")
    assert "end" not in browser.text("header")
    assert audited(browser, texts=3) == []

    # Another link in the same window is another session; this one is the operator's.
    browser.open(scene.printed_link("bob"))
    shows(browser, "bob")
    assert browser.run("return document.querySelector('#closed').hidden")
    browser.open(f"{scene.url}/memory#token={scene.token('bob', audience='mcp')}")
    browser.wait("!document.querySelector('#closed').hidden", what="the token to be refused")
    assert browser.text("#closed-title") == "This link has ended"


LATE: Final = """
const real = window.fetch;
window.fetch = async (...asked) => {
  const late = window.late;
  const answer = await real(...asked);
  if (late) await late;
  return answer;
};
window.late = new Promise((resolve) => { window.arrive = resolve; });
"""


def test_an_answer_to_an_earlier_token_is_not_shown_to_a_later_one(
    scene: PageScene, browser: Browser
) -> None:
    store(scene, "una", "Lives in Pune")
    visit(browser, scene, "una")
    browser.run(LATE)
    browser.click("#reload")
    browser.click("#memories .history")
    browser.run("location.hash = arguments[0]", f"token={scene.token('una')}")
    browser.wait("document.querySelector('#whose').hidden", what="the second one to be taken")
    browser.run("window.late = null; location.hash = arguments[0]", f"token={scene.token('bea')}")
    shows(browser, "bea")
    browser.run("window.arrive(); return new Promise((resolve) => { setTimeout(resolve, 50); })")
    assert contents(browser) == []
    assert browser.text("#none") == "Nothing is remembered about you."
    assert "Pune" not in browser.text("body")
    assert browser.text("#user") == "bea"


def test_what_does_not_arrive_or_takes_long_is_told(scene: PageScene, browser: Browser) -> None:
    said = "I keep two bees as pets"
    scene.say("lou", said, fact("Keeps two bees", said))
    visit(browser, scene, "lou")
    # Nothing is ever carried out, and time runs fast.
    browser.run(
        "const real = window.fetch, clock = performance.now.bind(performance);"
        "window.fetch = (address, ...more) => /turns/.test(address)"
        ' ? new Response(\'{"code": "unknown_turn"}\', {status: 404})'
        " : real(address, ...more);"
        "performance.now = () => clock() * 50;"
    )
    browser.click("#memories .pin")
    told(browser, "This is saved, and takes longer than usual to show")
    browser.run("window.fetch = () => Promise.reject(new TypeError('no network'))")
    browser.click("#memories .pin")
    told(browser, "No answer came, so this may be saved or not")
    browser.click("#reload")
    told(browser, "What is remembered cannot be shown right now")
    assert contents(browser) == ["Keeps two bees"]
    browser.run("location.hash = 'token=mlu_a.b'")
    browser.wait("!document.querySelector('#closed').hidden", what="that to be told")
    assert browser.text("#closed-title") == "Nothing can be shown right now"


def audited(browser: Browser, *, texts: int = 10) -> list[str]:
    """Return what is wrong with the page as it is shown now."""
    return [str(line) for line in browser.run(AUDIT, texts)]


def listed(scene: PageScene, user: str, *, history: bool = False) -> list[dict[str, Any]]:
    """Return what the listing for API keys tells of a user."""
    parameters = {"user_id": user, "history": str(history).lower()}
    answer = scene.client.get("/v1/memories", params=parameters)
    return list(answer.json()["memories"])


def tabbed_through(browser: Browser, stops: int) -> list[str]:
    """Return the names of what Tab reaches from the top; each shows that it has the focus."""
    browser.run("const top = document.querySelector('h1'); top.tabIndex = -1; top.focus()")
    names: list[str] = []
    for _ in range(stops):
        browser.press("Tab")
        name, outline = browser.run(
            f"const it = document.activeElement; return [({NAME_OF})(it), "
            "getComputedStyle(it).outlineStyle]"
        )
        assert outline == "solid", f"{name} does not show that it has the focus"
        names.append(name)
    return names


def keep_picture(browser: Browser, name: str) -> None:
    """Leave a picture where somebody wants to look at it."""
    if directory := os.environ.get(SHOTS):
        browser.save_screenshot(Path(directory) / f"{name}.png")
