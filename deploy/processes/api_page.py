"""The API reference at ``/docs``: one page made of the OpenAPI document, which loads nothing.

It has no script, no font and no picture, from this host or another, and says so in its
``Content-Security-Policy``: whoever reads it tells nobody else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any, Final

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_MUST: Final = ", required"
_STYLE: Final = """
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 25%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 1rem; }
code { font: 0.92em/1.4 ui-monospace, monospace; overflow-wrap: anywhere; }
nav ul { columns: 20rem; list-style: none; padding: 0; }
section { border-top: 1px solid var(--line); margin-top: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid var(--line); padding: 0.3rem 0.5rem; text-align: left;
  vertical-align: top; }
"""


def api_page_route(app: FastAPI) -> Route:
    """Return the route of the page; it is made when it is asked for first.

    Args:
        app: the application whose routes it tells of.
    """
    made: list[str] = []

    async def page(_request: Request) -> Response:
        if not made:
            made.append(page_of(app.openapi()))
        return HTMLResponse(
            made[0],
            headers={"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"},
        )

    return Route("/docs", page, methods=["GET"])


def page_of(document: Mapping[str, Any]) -> str:
    """Return an OpenAPI document as a page.

    Args:
        document: the document, as ``FastAPI.openapi`` makes it.
    """
    operations = list(_operations(document))
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    listed = "".join(
        f'<li><a href="#{anchor}"><code>{escape(name)}</code></a></li>'
        for name, anchor, _ in operations
    )
    sections = "".join(
        _section(name, anchor, operation, document) for name, anchor, operation in operations
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}: API</title><style>{_STYLE}</style></head><body>"
        f"<header><h1>{title}</h1><p>{escape(document['info'].get('summary', ''))}</p>"
        '<p>For programs: <a href="/openapi.json">OpenAPI</a>. Every request but those for health '
        "and this page carries <code>Authorization: Bearer &lt;key&gt;</code>.</p></header>"
        f'<nav aria-label="Operations"><ul>{listed}</ul></nav><main>{sections}</main></body></html>'
    )


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            name = f"{method.upper()} {path}"
            anchor = "".join(part if part.isalnum() else "-" for part in name.lower())
            yield name, anchor, operation


def _section(
    name: str, anchor: str, operation: Mapping[str, Any], document: Mapping[str, Any]
) -> str:
    paragraphs = operation.get("description", "").split("\n\n")
    parts = [
        f'<section id="{anchor}"><h2><code>{escape(name)}</code></h2>',
        f"<p><strong>{escape(operation.get('summary', ''))}</strong></p>",
        *(f"<p>{escape(paragraph)}</p>" for paragraph in paragraphs if paragraph.strip()),
    ]
    parameters = [
        (it["name"], it["in"], _MUST if it.get("required") else "", it.get("schema", {}), it)
        for it in operation.get("parameters", [])
    ]
    if parameters:
        parts.append(
            _table("Parameters", [_row(*it[:4], it[4].get("description")) for it in parameters])
        )
    content = operation.get("requestBody", {}).get("content", {})
    for media, described in content.items():
        schema = _resolved(described.get("schema", {}), document)
        for number, form in enumerate(schema.get("anyOf", [schema]), start=1):
            one = _resolved(form, document)
            required = one.get("required", [])
            rows = [
                _row(
                    field,
                    "body",
                    _MUST if field in required else "",
                    inner,
                    inner.get("description"),
                )
                for field, inner in one.get("properties", {}).items()
            ]
            which = "" if "anyOf" not in schema else f", form {number}"
            parts.append(_table(f"Body, {media}{which}", rows))
    answers = ", ".join(sorted(operation.get("responses", {})))
    parts.append(f"<p>Answers: <code>{escape(answers)}</code></p></section>")
    return "".join(parts)


def _table(caption: str, rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{it}</th>' for it in ("name", "where", "type", "what it is"))
    return (
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _row(
    name: str,
    where: str,
    must: str,
    schema: Mapping[str, Any],
    said: str | None,
) -> str:
    return (
        f'<tr><th scope="row"><code>{escape(name)}</code></th><td>{escape(where)}{must}</td>'
        f"<td>{escape(_kind(schema))}</td>"
        f"<td>{escape(said or schema.get('description') or '')}</td></tr>"
    )


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " | ".join(_kind(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    return str(schema.get("type", "any"))


def _resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Any = document
    for part in str(reference).removeprefix("#/").split("/"):
        found = found.get(part, {})
    return found if isinstance(found, Mapping) else {}
