"""Every task there is, measured on its own sample: the contract tests run over all of them."""

from __future__ import annotations

import pytest
from contract.samples import measured, sample_files

from karat import tasks
from karat.model.task import Card
from karat.run.pipeline import Measured


@pytest.fixture(params=tasks.cards(), ids=lambda card: card.name)
def card(request: pytest.FixtureRequest) -> Card:
    chosen: Card = request.param
    assert chosen.sample, f"{chosen.name} ships no sample, so nothing can be promised of it"
    return chosen


@pytest.fixture
def run(card: Card) -> Measured:
    return measured(card, *sample_files(card))
