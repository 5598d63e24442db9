"""Every extractor that ships, against what all of them owe."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from processors.extractors.loading import make_extractor
from schemas.ports import Extractor
from schemas.settings import Settings
from tests.contracts.extractors import ExtractorContract
from tests.support.model_fake import ModelFake, echo, model_fake_in_thread
from tests.support.model_fake.chat import Interface


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


@pytest.fixture(scope="module", autouse=True)
def _provider() -> Iterator[None]:
    with model_fake_in_thread() as fake:
        fake.standing = echo
        _Model.fake = fake
        yield
        assert fake.problems == []


class _Model(ExtractorContract):
    """One that asks a model over HTTP: a fake that repeats what the user said first."""

    interface: Interface
    fake: ModelFake
    made: Extractor | None = None

    @pytest.fixture
    def extractor(self) -> Extractor:
        return self.new_extractor()

    def new_extractor(self) -> Extractor:
        # Making the SDK's client takes longer than all else.
        if self.made is None:
            type(self).made = make_extractor(
                Settings(
                    extractor=self.interface,
                    extractor_model="a-model",
                    extractor_base_url=self.fake.base_url(self.interface),
                    extractor_api_key="a-key",
                )
            )
        assert self.made is not None
        return self.made


class TestAnthropic(_Model):
    interface = "anthropic"


class TestOpenAI(_Model):
    interface = "openai"
