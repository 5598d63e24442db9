"""Every door over HTTP: what one user is asked at it, and why some need not be asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final
from uuid import UUID

import httpx

from tests.integration.isolation.people import Person
from tests.integration.isolation.scene import IsolationScene

LATER: Final = "2100-01-01T00:00:00Z"
NOBODYS: Final = str(UUID(int=7))
MCP_HEADERS: Final = {"accept": "application/json, text/event-stream"}

NOT_ASKED: Final[Mapping[str, str]] = {
    "POST /v1/turns": "answers ids that follow from what was sent and a secret of the subject",
    "POST /v1/memories": "the same",
    "POST /v1/conversations/end": "the same",
    "POST /v1/user-tokens": "answers the token with which every door under /v1/me is asked",
    "PUT /v1/pause": "answers what it was sent, as GET /v1/pause does, which is asked",
    "PUT /v1/me/pause": "answers what it was sent and what GET /v1/me does, which is asked",
}
"""By route of the OpenAPI, why it tells nothing that could be another's."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """One request of a reader.

    Attributes:
        door: the route, as the OpenAPI has it; or the tool of the Model Context Protocol.
        path: its address, with whatever id.
        more: parameters or a body.
        of_tenant: whether what it answers is the whole tenant's.
        may_be_refused: whether it names a position that may lie in another partition.
        changes: whether it would change something, were it not refused.
    """

    door: str
    path: str
    more: Mapping[str, Any]
    of_tenant: bool = False
    may_be_refused: bool = False
    changes: bool = False

    def asked_by(
        self, scene: IsolationScene, reader: Person, headers: Mapping[str, str] | None = None
    ) -> httpx.Response:
        """Return the answer that a reader gets."""
        method, path = ("POST", "/mcp") if self.door in TOOLS else (self.door.split()[0], self.path)
        token = reader.api_key
        sent = dict(headers or {})
        if path == "/mcp":
            token, sent = reader.mcp, sent | MCP_HEADERS
        elif f"{path}/".startswith("/v1/me/"):
            token = reader.page
        sent = {"authorization": f"Bearer {token}"} | sent
        return scene.client.request(method, path, headers=sent, **self.more)

    @property
    def form(self) -> str:
        """The door, and what it is asked beside the user."""
        asked = self.more.get("json", self.more.get("params", {}))
        return " ".join([self.door, *sorted(set(asked) - {"user_id"})])

    @property
    def names_path(self) -> str:
        """The path of a file that it names; a text that stands nowhere if it names none."""
        body = self.more.get("json", self.more.get("params", {}))
        return str(body.get("path", "\0"))

    @property
    def text(self) -> str:
        """All that the question itself tells."""
        return self.path + json.dumps(self.more, ensure_ascii=False)


def questions(reader: Person, other: Person, user_id: str | None = None) -> Iterator[Question]:
    """Yield every question that a reader may ask to get at something of another user.

    Args:
        reader: who asks.
        other: whose ids, paths and words are named.
        user_id: another spelling of the reader's own id.
    """
    whose = {"user_id": user_id or reader.user_id}
    yield from _recalls(whose, other)
    yield from _listings(whose, other)
    yield from _files(whose, other)
    yield from _own_page(other)
    yield from _tools(other)
    yield from by_id(reader, other, whose)


def _get(door: str, **query: Any) -> Question:
    return Question(door=f"GET {door}", path=door, more={"params": query})


def _post(door: str, **body: Any) -> Question:
    return Question(door=f"POST {door}", path=door, more={"json": body})


def _words(person: Person) -> str:
    return " ".join(person.word(kind) for kind in "fgrsxpc")


def _recalls(whose: Mapping[str, str], other: Person) -> Iterator[Question]:
    everything = {**whose, "min_similarity": -1, "limit": 100}
    yield _post("/v1/recall", **everything, query=_words(other))
    theirs = _post("/v1/recall", **everything, query=_words(other), at_least=other.position)
    yield replace(theirs, may_be_refused=True)
    # Explained, an answer repeats what it was asked.
    yield _post("/v1/recall", **everything, query="What is at home?", explain=True)
    yield _post("/v1/recall", **everything, query="What?", explain=True, as_of=LATER)
    yield _get("/v1/profile", **whose)


def _listings(whose: Mapping[str, str], other: Person) -> Iterator[Question]:
    yield _get("/v1/memories", **whose, history=True)
    yield _get("/v1/memories", **whose, as_of=LATER)
    yield _get("/v1/export", **whose)
    yield _get("/v1/conversations/summary", **whose)
    yield _get("/v1/conversations/summary", **whose, conversation_id=other.word("c"))
    yield _get("/v1/flags", **whose)
    yield Question(door="GET /v1/flags", path="/v1/flags", more={}, of_tenant=True)
    yield _get("/v1/pause", **whose)


def _files(whose: Mapping[str, str], other: Person) -> Iterator[Question]:
    yield _get("/v1/files", **whose)
    yield _get("/v1/files/history", **whose)
    yield _get("/v1/files/history", **whose, path=other.path)
    yield _get("/v1/files/content", **whose, path=other.path)
    yield _get("/v1/files/content", **whose, path=other.path, version=1)
    for path in ("/memories", other.path):
        yield _post("/v1/memory-tool", **whose, command="view", path=path)


def _own_page(other: Person) -> Iterator[Question]:
    yield _get("/v1/me")
    yield _get("/v1/me/memories")
    yield _get("/v1/me/summaries")
    yield _get("/v1/me/export")
    for query in (other.word("r"), other.word("s"), "zq", "%", "_"):
        yield _post("/v1/me/search", query=query)


TOOLS: Final = ("search_memories", "list_memories", "remember", "forget")
"""The tools of the Model Context Protocol; `remember` repeats nothing, and is not called."""


def _tool(name: str, **arguments: Any) -> Question:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": name, "arguments": arguments},
    }
    return Question(door=name, path="/mcp", more={"json": call})


def _tools(other: Person) -> Iterator[Question]:
    yield _tool("search_memories", query=_words(other), limit=50)
    yield _tool("list_memories", limit=50)
    yield _tool("list_memories", limit=50, user_id=other.user_id)


_BY_ID: Final[tuple[tuple[str, str, bool], ...]] = (
    ("GET /v1/turns/{turn_id}", "turn", True),
    ("GET /v1/recalls/{recall_id}", "recall", True),
    ("GET /v1/me/memories/{memory_id}/history", "memory", False),
    ("GET /v1/me/turns/{turn_id}", "turn", False),
    ("PATCH /v1/memories/{memory_id}", "memory", True),
    ("DELETE /v1/memories/{memory_id}", "memory", True),
    ("PATCH /v1/me/memories/{memory_id}", "memory", False),
    ("DELETE /v1/me/memories/{memory_id}", "memory", False),
)
"""By route that takes an id, of what kind that is, and whether the user is named beside it."""


def by_id(
    reader: Person,
    other: Person,
    whose: Mapping[str, str],
    instead: str | None = None,
) -> Iterator[Question]:
    """Yield every question that names something by its id.

    Args:
        reader: who asks.
        other: whose ids are named.
        whose: how the reader names themself, where one does.
        instead: what is named in place of each of their ids.
    """

    def named(theirs: str) -> str:
        return theirs if instead is None else instead

    for door, kind, names_user in _BY_ID:
        method, path = door.split()
        more: dict[str, Any] = {}
        if method == "PATCH":
            more["json"] = {"pinned": True, **(whose if names_user else {})}
        elif names_user:
            more["params"] = dict(whose)
        address = path.replace(path[path.index("{") : path.index("}") + 1], named(other.ids[kind]))
        yield Question(door=door, path=address, more=more, changes=method != "GET")
    forgetting = _tool("forget", memory_id=named(other.ids["memory"]))
    yield replace(forgetting, changes=True)
    if reader.tenant != other.tenant:  # within a tenant, staff decides about everybody's
        yield Question(
            door="POST /v1/flags/{flag_id}",
            path=f"/v1/flags/{named(other.ids['flag'])}",
            more={"json": {"decision": "approve", "reason": "so"}},
            changes=True,
        )
