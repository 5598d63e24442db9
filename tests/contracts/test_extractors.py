"""Every extractor that ships, against what all of them owe."""

from __future__ import annotations

import pytest

from processors.extractors.loading import make_extractor
from schemas.ports import Extractor
from schemas.settings import Settings
from tests.contracts.extractors import ExtractorContract


class _BuiltIn(ExtractorContract):
    spec: str

    @pytest.fixture
    def extractor(self) -> Extractor:
        return self.new_extractor()

    def new_extractor(self) -> Extractor:
        return make_extractor(Settings(extractor=self.spec))


class TestRules(_BuiltIn):
    spec = "rules"


class TestVerbatim(_BuiltIn):
    spec = "verbatim"
