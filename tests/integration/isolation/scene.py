"""One pipeline in which every one of these users has something of every kind."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

import httpx

from schemas.memory import Confidence, MemoryKind
from schemas.ports import Extraction, ExtractionRequest
from schemas.proposals import Action, Operation
from schemas.slots import Slot
from tests.browser.scene import PageScene, ScriptedExtractor
from tests.conftest import TestStores
from tests.integration.isolation.people import Person, everybody
from tests.support.waiting import wait_until

_AT_ONCE: Final = 12


class PeopleExtractor(ScriptedExtractor):
    """Notes what it was shown, beside what its kind does.

    Attributes:
        shown: by the text of a turn, what it was shown of what is known already.
    """

    known_max = 5

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, str] = {}

    async def extract(self, request: ExtractionRequest) -> Extraction:
        """Return what was put down."""
        known = [one.memory.model_dump_json() for one in request.known]
        self.shown[request.turn.user_text] = "\n".join(known)
        return await super().extract(request)


class IsolationScene(PageScene):
    """The pipeline and its users.

    Attributes:
        people: the users.
    """

    def __init__(self, stores: TestStores) -> None:
        self.people = everybody()
        self.seen = PeopleExtractor()
        super().__init__(stores, self.seen)

    def fill(self) -> None:
        """Give everybody keys, turns, memories, flags, files, summaries and recalls."""
        self._give_keys()
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(self._fill, self.people))

    def asked(
        self, person: Person, method: str, path: str, *, user_token: bool = False, **more: Any
    ) -> httpx.Response:
        """Return the answer to a request with a person's key, or with their own token."""
        token = person.page if user_token else person.api_key
        headers = {"authorization": f"Bearer {token}"} | more.pop("headers", {})
        return self.client.request(method, path, headers=headers, **more)

    def _give_keys(self) -> None:
        keyring = self.process.keyring
        keys: dict[str, str] = {}
        for tenant in {person.tenant for person in self.people}:
            self.ask(keyring.ensure_tenant(tenant))
            keys[tenant] = self.ask(keyring.create_api_key(tenant))
        for person in self.people:
            person.api_key = keys[person.tenant]
            for audience in ("page", "mcp"):
                body = {"user_id": person.user_id, "audience": audience}
                answer = self.asked(person, "POST", "/v1/user-tokens", json=body)
                assert answer.status_code == httpx.codes.CREATED, answer.text
                setattr(person, audience, answer.json()["token"])

    def _fill(self, person: Person) -> None:
        ids, whose = person.ids, {"user_id": person.user_id}
        conversation = {"conversation_id": person.word("c")}
        fact = f"I keep a {person.word('f')} at home."
        # The claim is for staff to decide.
        claim = f"You promised me a full refund for the {person.word('g')}."
        self.extractor.proposals[fact] = [_fact(f"Keeps a {person.word('f')} at home", fact)]
        self.extractor.proposals[claim] = [
            _fact(f"Was promised a full refund for the {person.word('g')}", claim)
        ]
        for text in (fact, claim):
            turn = whose | conversation | {"user_text": text}
            ids[f"turn {text[:1]}"] = self._accepted(person, "/v1/turns", turn)["turn_id"]
        ids["turn"] = ids["turn I"]
        stated = {"source": "person", "kind": "semantic", "slot": "note", "pinned": True}
        self._accepted(
            person, "/v1/memories", whose | stated | {"content": f"Wants the {person.word('s')}"}
        )
        end = self._accepted(person, "/v1/conversations/end", whose | conversation)
        person.position = end["position"]
        content = f"The {person.word('x')} is in the file."
        create = {"command": "create", "path": person.path, "file_text": content}
        created = self.asked(person, "POST", "/v1/memory-tool", json=whose | create)
        assert not created.json()["is_error"], created.text
        question = whose | {"query": f"the {person.word('s')}", "at_least": person.position}
        recalled = self._recalled(person, question)
        assert recalled["memories"], recalled
        ids["recall"] = recalled["recall_id"]
        self._correct(person)
        self._note_ids(person)

    def _correct(self, person: Person) -> None:
        listed = self.asked(person, "GET", "/v1/memories", params={"user_id": person.user_id})
        (heard,) = [one for one in listed.json()["memories"] if person.word("f") in one["content"]]
        person.ids["memory"] = heard["memory_id"]
        right = {"user_id": person.user_id, "content": f"Keeps a {person.word('r')} at home"}
        answer = self.asked(person, "PATCH", f"/v1/memories/{heard['memory_id']}", json=right)
        person.position = answer.json()["position"]

    def _note_ids(self, person: Person) -> None:
        """Wait until all of it shows, and note the ids of it."""
        ids, whose = person.ids, {"user_id": person.user_id}

        def got(path: str, **query: Any) -> Any:
            answer = self.asked(person, "GET", path, params=whose | query)
            return answer.json() if answer.is_success else None

        told = wait_until(lambda: got(f"/v1/recalls/{ids['recall']}"), what="the recall")
        assert person.word("s") in told["injection"]
        question = whose | {"query": "x", "at_least": person.position}
        self._recalled(person, question)
        (flag,) = got("/v1/flags")["flags"]
        (file,) = got("/v1/files")["files"]
        (summary,) = got("/v1/conversations/summary")["summaries"]
        assert person.word("f") in summary["summary"]
        ids |= {"flag": flag["flag_id"], "file": file["file_id"], "own turn": ids["turn"]}
        for number, one in enumerate(got("/v1/memories", history=True)["memories"]):
            ids[f"memory {number}"] = one["memory_id"]

    def _recalled(self, person: Person, question: dict[str, Any]) -> dict[str, Any]:
        """Return what a recall answers once all that it is to wait for is processed."""

        def recalled() -> dict[str, Any] | None:
            answer = self.asked(person, "POST", "/v1/recall", json=question)
            if answer.status_code == httpx.codes.GATEWAY_TIMEOUT:
                return None  # all of them come at once, and a recall waits for a while only
            assert answer.is_success, answer.text
            return dict(answer.json())

        return wait_until(recalled, what="the turns to be processed", timeout_s=120.0)

    def _accepted(self, person: Person, path: str, body: dict[str, Any]) -> dict[str, Any]:
        answer = self.asked(person, "POST", path, json=body)
        assert answer.status_code == httpx.codes.ACCEPTED, answer.text
        return dict(answer.json())


def _fact(content: str, quote: str) -> Operation:
    return Operation(
        action=Action.ADD,
        kind=MemoryKind.SEMANTIC,
        slot=Slot.POSSESSION,
        about="user",
        content=content,
        importance=3,
        confidence=Confidence.STATED,
        quote=quote,
    )


@contextmanager
def isolation_scene(stores: TestStores) -> Iterator[IsolationScene]:
    """Yield the running pipeline with all of its users."""
    scene = IsolationScene(stores)
    scene.begin()
    try:
        scene.fill()
        yield scene
    finally:
        scene.end()
