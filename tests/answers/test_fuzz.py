"""karat against a plain reference, value and type, on texts made to break short cuts."""

from __future__ import annotations

from random import Random
from typing import Any

import msgspec
import pytest
from making import dataset, question, text
from reference import official11, official20, questions, raw20

from karat.model.problem import Problems
from karat.tasks.answers import files, records
from karat.tasks.answers.reading import Reading
from karat.tasks.answers.totals import official11 as fold11
from karat.tasks.answers.totals import official20 as fold20


def asked(data: dict[str, Any], said: dict[str, str], version: str) -> files.Asked:
    reading = Reading(lambda: b"{}", "gold", Problems())
    found = files.asked(msgspec.convert(data, records.Dataset), said, reading, version)
    assert found is not None
    return found


def scores(data: dict[str, Any], said: dict[str, str], chances: Any = None) -> Any:
    gold = asked(data, said, "2.0")
    return files.scored(gold, list(map(said.get, gold.ids)), files.Choices(), chances)


def case(seed: int) -> tuple[dict[str, Any], dict[str, str], dict[str, float]]:
    """Sixty questions, some with repeated ids, their answers and probabilities."""
    rng = Random(seed)
    pool = [text(rng) for _ in range(8)] + ["", "the", "%"]
    posed, said = [], {}
    for i in range(60):
        key = str(rng.randrange(55)) if rng.random() < 0.2 else f"q{i}"
        golds = [rng.choice(pool) for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]
        posed.append(question(key, *golds))
        said[key] = rng.choice(pool)
    keys = list(said)
    rng.shuffle(keys)
    return dataset(posed), said, {k: rng.choice([0, 0.25, 0.5, 1, rng.random()]) for k in keys}


@pytest.mark.parametrize("block", range(10))
def test_version_2(block: int) -> None:
    for seed in range(60 * block, 60 * block + 60):
        data, said, chances = case(seed)
        found = scores(data, said, chances)
        exact, f1 = raw20(data, said)
        assert list(map(repr, found.exact)) == list(map(repr, exact.values())), seed
        assert list(map(repr, found.f1)) == list(map(repr, f1.values())), seed
        assert repr(fold20(found, 0.4, True)) == repr(official20(data, said, chances, 0.4, True))
        assert repr(fold20(scores(data, said))) == repr(official20(data, said))
        assert repr(fold20(scores(data, said), -1.0)) == repr(official20(data, said, None, -1.0))


@pytest.mark.parametrize("block", range(5))
def test_version_1(block: int) -> None:
    for seed in range(60 * block, 60 * block + 60):
        data, said, _ = case(seed)
        for one in questions(data):
            one["answers"] = one["answers"] or [{"text": "the"}]
        said.pop(next(iter(said)))
        gold = asked(data, said, "1.1")
        choices = files.Choices(version="1.1", missing="zero")
        found = files.scored(gold, list(map(said.get, gold.ids)), choices)
        assert fold11(found.exact, found.f1) == official11(data, said), seed
