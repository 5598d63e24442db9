"""Marks that are told apart by nobody who reads them, and characters that nobody sees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

ALIKE: Final[Mapping[str, str]] = {
    "'": "\u2018\u2019\u201a\u201b\u2032\u00b4`",
    '"': "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb",
    "-": "\u2010\u2011\u2012\u2013\u2014\u2015\u2212",
}
"""By a mark of ASCII, its typographic forms: models exchange them when they quote."""

TAGS: Final = re.compile("[\U000e0000-\U000e007f]")
"""Unicode's tag characters, which nobody sees and a model may read."""
