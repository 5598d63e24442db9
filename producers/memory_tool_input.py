"""What a caller of the memory tool sends, checked for its shape; what a path may be, is not here.

A body that is malformed is the caller's program's fault and is refused as every body is. What a
model got wrong in a body of the right shape, a path or a text, is answered to the model.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field

from producers.bodies import Body, read_body
from schemas import text
from schemas.errors import InvalidInput
from schemas.files import (
    FileChange,
    FileCreated,
    FileDeleted,
    FileInserted,
    FileRenamed,
    FileReplaced,
)
from schemas.json_text import require_names_once


class _CommandBody(Body):
    user_id: Annotated[
        str, Field(description="Whose files: any text of 1 to 512 characters, opaque.")
    ]
    command_id: Annotated[
        str | None,
        Field(
            description="The caller's own id of the command, unique for the user: sent again, it "
            "takes effect once and is answered as the first time. Without it every request is "
            "another command."
        ),
    ] = None


_Path = Annotated[str, Field(description="A path inside /memories, as the model told it.")]


class ViewBody(_CommandBody):
    """Show a file, or list a directory."""

    command: Literal["view"]
    path: _Path
    view_range: Annotated[
        list[int] | None,
        Field(description="The first and the last line to show, from 1; -1 is the last one."),
    ] = None


class CreateBody(_CommandBody):
    """Make a file."""

    command: Literal["create"]
    path: _Path
    file_text: Annotated[str, Field(description="What it is to hold.")]


class StrReplaceBody(_CommandBody):
    """Replace a text that stands once in a file."""

    command: Literal["str_replace"]
    path: _Path
    old_str: Annotated[str, Field(description="What stands there.")]
    new_str: Annotated[
        str | None, Field(description="What is to stand there; left out, it is deleted.")
    ] = None


class InsertBody(_CommandBody):
    """Insert lines into a file."""

    command: Literal["insert"]
    path: _Path
    insert_line: Annotated[int, Field(description="Behind which line; 0 is the beginning.")]
    insert_text: Annotated[str, Field(description="The lines.")]


class DeleteBody(_CommandBody):
    """Delete a file, or a directory with everything in it."""

    command: Literal["delete"]
    path: _Path


class RenameBody(_CommandBody):
    """Move a file or a directory."""

    command: Literal["rename"]
    old_path: _Path
    new_path: _Path


BODIES: Final[Mapping[str, type[_CommandBody]]] = {
    "view": ViewBody,
    "create": CreateBody,
    "str_replace": StrReplaceBody,
    "insert": InsertBody,
    "delete": DeleteBody,
    "rename": RenameBody,
}
"""The body of each command."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FileView:
    """A directory or a file is to be shown.

    Attributes:
        path: which.
        view_range: which lines of a file, as told.
    """

    path: str
    view_range: tuple[int, ...] | None


Asked: TypeAlias = FileView | FileChange


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolCommand:
    """One command of the memory tool.

    Attributes:
        user_id: whose files.
        client_id: the caller's own id of the command, if it has one.
        asked: what is to be shown or changed.
    """

    user_id: str
    client_id: str | None
    asked: Asked


def read_tool_command(body: object) -> ToolCommand:
    """Return the command that decoded JSON describes.

    Raises:
        InvalidInput: it is none of the six, or a field is missing, unknown or of the wrong type.
    """
    require_names_once(body)
    if not isinstance(body, dict):
        raise InvalidInput(
            field="body",
            problem="is not a JSON object",
            remedy="send the object of a command, with user_id and command",
        )
    name = body.get("command")
    model = BODIES.get(name) if isinstance(name, str) else None
    if model is None:
        raise InvalidInput(
            field="command",
            problem="is missing" if "command" not in body else "is none of the six commands",
            remedy=f"send one of {', '.join(BODIES)}",
        )
    _require_numbers(body)
    read = read_body(body, model, whole="body")
    return ToolCommand(
        user_id=text.clean_user_id(read.user_id),
        client_id=(
            None
            if read.command_id is None
            else text.clean_identifier("command_id", read.command_id)
        ),
        asked=_asked(read),
    )


def _require_numbers(body: Mapping[str, Any]) -> None:
    told = body.get("view_range")
    is_range = isinstance(told, list) and all(type(number) is int for number in told)
    if told is not None and body["command"] == "view" and not is_range:
        raise InvalidInput(
            field="view_range",
            problem="is not a list of whole numbers",
            remedy="send the first and the last line, such as [1, 20]",
        )


def _asked(body: _CommandBody) -> Asked:
    match body:
        case ViewBody():
            told = body.view_range
            return FileView(path=body.path, view_range=None if told is None else tuple(told))
        case CreateBody():
            return FileCreated(path=body.path, file_text=body.file_text)
        case StrReplaceBody():
            return FileReplaced(path=body.path, old_str=body.old_str, new_str=body.new_str or "")
        case InsertBody():
            return FileInserted(
                path=body.path, insert_line=body.insert_line, insert_text=body.insert_text
            )
        case DeleteBody():
            return FileDeleted(path=body.path)
        case RenameBody():
            return FileRenamed(old_path=body.old_path, new_path=body.new_path)
        case _:
            raise AssertionError(f"{type(body).__name__} is no body of a command")
