"""Stopping, going on, sharing out and running out of memory leave the bytes as they are."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from karat.models import running
from karat.models.batches import Fetch, Memory, plan
from karat.models.causal import Causal
from karat.models.journal import Journal, parse_shard

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def words(model: Callable[[str], str], data: dict[str, str]) -> list[str]:
    return [
        "predict", "stereoset", "--pretrained-class", model("gpt2"),
        "--intrasentence-df-file", data["intrasentence"],
        "--intersentence-df-file", data["intersentence"], "--batch-size", "8",
    ]  # fmt: skip


@pytest.fixture
def whole(karat: Run, words: list[str], tmp_path: Path) -> bytes:
    assert karat(*words, "--out", str(tmp_path / "whole.json"))[0] == 0
    assert not list(tmp_path.glob("*.part"))
    return (tmp_path / "whole.json").read_bytes()


def test_a_stopped_run_goes_on(
    karat: Run, words: list[str], whole: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = Causal.begin, []

    def stop(self: Causal, units: Sequence[Hashable]) -> Fetch:
        calls.append(len(units))
        if len(calls) == 9:
            raise KeyboardInterrupt
        return real(self, units)

    monkeypatch.setattr(Causal, "begin", stop)
    out = tmp_path / "stopped.json"
    status, _, err = karat(*words, "--out", str(out))
    part = tmp_path / "stopped.json.part"
    assert status == 130
    assert f"{part} keeps what is done" in err
    assert not out.exists()
    lines = part.read_text().splitlines()
    assert lines
    assert all(json.loads(line)["rows"] for line in lines)
    part.write_text(part.read_text() + '{"plan": "torn')
    monkeypatch.setattr(Causal, "begin", real)
    assert karat(*words, "--out", str(out), "--resume")[0] == 0
    assert out.read_bytes() == whole
    assert not part.exists()


def test_shards_merge_to_the_same_bytes(
    karat: Run, words: list[str], whole: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "shared.json"
    for shard in ("2/3", "1/3", "3/3"):
        assert karat(*words, "--out", str(out), "--shard", shard)[0] == 0
        assert not out.exists()
    assert karat(*words, "--out", str(out), "--resume")[0] == 0
    assert out.read_bytes() == whole


def test_parts_of_another_model_are_not_taken(
    karat: Run, words: list[str], whole: bytes, tmp_path: Path
) -> None:
    out = tmp_path / "other.json"
    assert karat(*words, "--out", str(out), "--shard", "1/1", "--dtype", "fp64")[0] == 0
    assert karat(*words, "--out", str(out), "--resume")[0] == 0
    assert out.read_bytes() == whole


class Hungry:
    """Work that fits only three units at once."""

    units: Sequence[Hashable] = list(range(20))

    def __init__(self, error: BaseException) -> None:
        self.error = error
        self.sizes: list[int] = []

    def cost(self, unit: Hashable) -> int:
        return 1

    def begin(self, units: Sequence[Hashable]) -> Fetch:
        self.sizes.append(len(units))
        if len(units) > 3:
            raise self.error
        return lambda: [[float(unit)] for unit in units]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "error",
    [torch.OutOfMemoryError("full"), MemoryError(), RuntimeError("you tried to allocate memory")],
)
def test_memory_that_runs_out_halves_the_batches(error: BaseException) -> None:
    work, memory = Hungry(error), Memory(20)
    assert memory.begin(work, work.units)() == [[float(i)] for i in range(20)]
    assert memory.halved >= 1
    # What did not fit once is not tried again.
    again = Hungry(error)
    memory.begin(again, again.units)()
    assert max(again.sizes) <= 3


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(RuntimeError, match="wrong shape"):
        Memory(20).begin(Hungry(RuntimeError("wrong shape")), list(range(5)))


def test_plans_hold_everything_within_the_budget() -> None:
    costs = [5, 1, 9, 3, 3, 8, 1, 30]
    batches = plan(costs, 16)
    assert sorted(i for batch in batches for i in batch) == list(range(8))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(costs[i] for i in batch) <= 16
    assert max(len(batch) for batch in plan(costs, 1000, 3)) == 3


@pytest.mark.parametrize(
    ("text", "found"), [("1/2", (1, 2)), ("0/2", None), ("3/2", None), ("x", None)]
)
def test_shards_are_read(text: str, found: Any) -> None:
    assert parse_shard(text) == found


def test_a_fresh_run_does_not_take_old_parts(tmp_path: Path) -> None:
    target = tmp_path / "p.json"
    with Journal(target) as journal:
        journal.add("plan", 0, [[1.0]])
    assert Journal(target, resume=True).done("plan") == {0: [[1.0]]}
    told: list[str] = []
    assert Journal(target, say=told.append).done("plan") == {}
    assert "--resume would go on" in told[0]
    assert Journal(target, resume=True).done("plan") == {}


def test_turned_orderings_are_counted(
    model: Callable[[str], str], examples: dict[str, Any]
) -> None:
    from karat.models.loading import Settings
    from karat.models.paths import make

    def maker(settings: Any, chosen: Any) -> Any:
        return make(settings, "intrasentence", "GPT2LM", chosen)

    same = running.flipped(maker, Settings(model("gpt2"), dtype="fp64"), examples["intrasentence"])
    assert same == (0, 180)


def test_parts_of_several_devices_belong_together(model: Callable[[str], str]) -> None:
    from dataclasses import replace

    from karat.models.loading import Settings, load

    loaded = load(Settings(model("gpt2")), "causal")
    elsewhere = replace(loaded, settings=replace(loaded.settings, device="cpu:0", name="a/b"))
    assert loaded.identity() == elsewhere.identity()
    other = replace(loaded, settings=replace(loaded.settings, dtype="tf32"))
    assert loaded.identity() != other.identity()


def test_parts_of_a_longer_name_are_left_alone(tmp_path: Path) -> None:
    others = [tmp_path / "p.jsonl.part", tmp_path / "p.json2.1-of-2.part"]
    for other in others:
        other.write_text('{"plan": "plan", "batch": 0, "rows": [[2.0]]}\n')
    with Journal(tmp_path / "p.json", (1, 2), resume=True) as journal:
        assert journal.done("plan") == {}
        journal.add("plan", 1, [[1.0]])
        journal.clear()
    assert sorted(tmp_path.iterdir()) == sorted(others)
