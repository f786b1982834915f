"""The command line with an engine that answers by heart."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from karat import api
from karat.cli.main import main
from karat.model.report import Gate, Input, Report, Score
from karat.model.signature import Signature


@dataclass
class Answer:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


@dataclass
class Engine:
    """Stands for `karat.api`: remembers how it was called; answers or raises."""

    answer: Any = None
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = field(default_factory=list)

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        self.calls.append((args, keywords))
        if keywords.get("say"):
            keywords["say"]("detected text-classification (text); --task overrides")
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer


def a_report(*gates: Gate) -> Report:
    return Report(
        task="text-classification",
        item="text",
        n=4,
        scores=[
            Score(name="accuracy", value=0.1 + 0.2, low=0.1, high=0.5, n=4, main=True),
            Score(name="mcc", value=None, n=4, reason="one class only", main=True),
        ],
        gates=list(gates),
        inputs=[Input(role="predictions", name="p.jsonl", digest="aa")],
        signature=Signature(task="text-classification", n=4),
    )


@pytest.fixture
def scoring(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine(a_report())
    monkeypatch.setattr(api, "score", engine)
    return engine


@pytest.fixture
def checking(monkeypatch: pytest.MonkeyPatch) -> Engine:
    engine = Engine(api.Check(task="nli", counts={"error": 0, "warning": 0, "note": 0}))
    monkeypatch.setattr(api, "check", engine)
    return engine


@pytest.fixture
def karat(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Runs one command line in this process."""

    def run(*words: str) -> Answer:
        capsys.readouterr()
        status = main(words)
        out, err = capsys.readouterr()
        return Answer(status, out, err)

    return run
