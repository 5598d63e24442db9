"""Reading the source tree: who imports whom, which strings are SQL, what the files are."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE_PACKAGES = ("schemas", "producers", "processors", "projections", "deploy")

MAY_IMPORT = {
    "schemas": frozenset[str](),
    "producers": frozenset({"schemas"}),
    "processors": frozenset({"schemas"}),
    "projections": frozenset({"schemas"}),
    "deploy": frozenset({"schemas", "producers", "processors", "projections"}),
}
"""The arrows: what each package may import of this tree beside itself."""

_NAMED_BY_TEXT = frozenset({"import_module", "__import__", "find_spec", "files", "load_queries"})
"""Functions that take a package's name as a text."""

_OPENING_WORD = re.compile(
    r"\s*(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|CREATE|ALTER|DROP|TRUNCATE|COPY|GRANT|REVOKE"
    r"|LISTEN|NOTIFY|LOCK|SET|BEGIN|COMMIT|ROLLBACK|VACUUM|ANALYZE)\s+\S"
)
_STATEMENT = re.compile(
    r"\s*(select\b.+\bfrom\b|insert\s+into\b|delete\s+from\s+\w+\s*(where\b|;|$)"
    r"|update\s+\S+\s+set\b|(create|alter|drop)\s+(table|index|view|schema|role|database)\b)",
    re.IGNORECASE | re.DOTALL,
)


def python_files(*packages: str) -> list[Path]:
    """Return every Python file of the packages, in order."""
    return sorted(path for package in packages for path in (ROOT / package).rglob("*.py"))


def tracked_files() -> list[Path]:
    """Return what belongs to the project: the tracked files, or all of an unpacked archive."""
    if (ROOT / ".git").exists():
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
        )
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
        return [path for path in paths if path.is_file()]
    return sorted(
        path
        for path in ROOT.rglob("*")
        if path.is_file() and not any(part[0] == "." for part in path.relative_to(ROOT).parts)
    )


def imported_packages(source: str, *, module: str) -> Iterator[tuple[int, str]]:
    """Yield line and top-level package of every import of a module, wherever in it that stands.

    Args:
        source: the module's text.
        module: its dotted name, against which relative imports are resolved; that of a package
            ends with ``.__init__``.
    """
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names):
                for name in names:
                    yield node.lineno, name.name.partition(".")[0]
            case ast.ImportFrom(module=name, level=0):
                yield node.lineno, str(name).partition(".")[0]
            case ast.ImportFrom(names=names, module=name, level=level):
                above = module.split(".")[:-level]
                yield from (
                    (node.lineno, above[0] if above else name or alias.name) for alias in names
                )
            case ast.Call(args=[ast.Constant(value=str(named)), *_]):
                if _called(node) in _NAMED_BY_TEXT:
                    yield node.lineno, named.partition(".")[0]


def forbidden_imports(source: str, *, module: str) -> list[str]:
    """Return the imports of a module that go against the arrows, one sentence each."""
    package = module.partition(".")[0]
    ours = {*SOURCE_PACKAGES, "tests"}
    return [
        f"{module}:{line} imports {imported}"
        for line, imported in imported_packages(source, module=module)
        if imported in ours and imported != package and imported not in MAY_IMPORT[package]
    ]


def inline_sql(source: str) -> list[str]:
    """Return the texts of a module that are SQL, each with its line; docstrings are none."""
    tree = ast.parse(source)
    # A text that stands alone does nothing: it is documentation.
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    inside_other = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    found = []
    for node in ast.walk(tree):
        if id(node) in documentation or id(node) in inside_other:
            continue
        text = _text(node)
        if text is not None and (_OPENING_WORD.match(text) or _STATEMENT.match(text)):
            found.append(f"line {getattr(node, 'lineno', 0)}: {text.strip()[:60]!r}")
        if isinstance(node, ast.Call) and _called(node) in {"execute", "executemany", "SQL"}:
            found += [
                f"line {node.lineno}: a text is executed"
                for argument in node.args[:1]
                if _text(argument) is not None
            ]
    return found


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _text(node: ast.AST) -> str | None:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text(part) or "{}" for part in parts)
    return None


def module_name(path: Path) -> str:
    """Return the dotted name of a Python file; a package's own ends with ``.__init__``."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)
