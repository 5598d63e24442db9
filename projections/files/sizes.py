"""How much a file or directory holds, as people read it."""

from __future__ import annotations

from typing import Final

_STEP: Final = 1024
_UNITS: Final = ("K", "M", "G")


def size_text(size_bytes: int) -> str:
    """Return a size with one digit behind the point and its unit: ``5.5K``, ``1.2M``.

    Below 1,024 bytes it is whole: ``512B``.
    """
    if size_bytes < _STEP:
        return f"{size_bytes}B"
    size, unit = size_bytes / _STEP, 0
    # 1,023.96K reads 1.0M and not 1024.0K.
    while round(size, 1) >= _STEP and unit < len(_UNITS) - 1:
        size, unit = size / _STEP, unit + 1
    return f"{size:.1f}{_UNITS[unit]}"
