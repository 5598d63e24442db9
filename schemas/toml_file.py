"""Reading a file of settings in TOML into a model, with errors that name file and field."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from schemas.errors import ConfigurationError

FileModel = TypeVar("FileModel", bound=BaseModel)


def read_toml(path: Path, model: type[FileModel], *, variable: str) -> FileModel:
    """Return what a TOML file holds.

    Numbers with a point are read as decimals, exactly as they are written.

    Args:
        path: the file.
        model: its shape.
        variable: the environment variable that names the file, for messages.

    Raises:
        ConfigurationError: it cannot be read, is not TOML, or does not fit; the message names each
            field and what is wrong with it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"{variable} names {path}, which cannot be read: {error}"
        ) from error
    try:
        held = tomllib.loads(text, parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{variable}: {path} is not TOML: {error}") from error
    try:
        return model.model_validate(held)
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(str(part) for part in detail['loc']) or 'the file'}: {detail['msg']}"
            for detail in error.errors(include_url=False, include_context=False)
        )
        raise ConfigurationError(f"{variable}: {path}: {problems}") from None
