"""What holds for every task: directions, refusals, stored runs, gates."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

import karat
from karat.model.report import Report
from karat.model.task import Request
from karat.read.source import Source
from karat.run.comparing import system_names

# Each compares whole runs, detection among them.
pytestmark = pytest.mark.slow

Sample = tuple[str, str, str]


def test_swapping_the_systems_turns_every_sign(sample: Sample) -> None:
    gold, good, bad = sample
    one = karat.compare(gold, good, bad).comparisons[0].differences
    two = karat.compare(gold, bad, good).comparisons[0].differences
    assert len(one) > 1
    for a, b in zip(one, two, strict=True):
        assert a.name == b.name
        if a.value is None:
            assert b.value is None
            continue
        assert b.value == pytest.approx(-a.value, abs=1e-12)
        assert (a.wins, a.losses) == (b.losses, b.wins)
        if a.low is not None and b.high is not None:
            assert b.high == pytest.approx(-a.low, abs=1e-9)


def test_differences_are_those_of_the_scores(sample: Sample) -> None:
    gold, good, bad = sample
    first, second = karat.score(gold, good), karat.score(gold, bad)
    for one in karat.compare(gold, good, bad).comparisons[0].differences:
        mine, theirs = (
            next((s.value for s in r.scores if s.name == one.name), None) for r in (second, first)
        )
        assert (one.system_value, one.baseline_value) == (mine, theirs)
        if one.value is not None and mine is not None and theirs is not None:
            assert one.value == pytest.approx(mine - theirs, abs=1e-12)


def test_a_worse_system_is_told_as_worse(sample: Sample) -> None:
    gold, good, bad = sample
    report = karat.compare(gold, good, bad)
    assert " loses to predictions by " in report.comparisons[0].sentence
    assert "this test set can see differences of" in report.comparisons[0].sentence


def test_a_stored_baseline_says_what_a_fresh_one_says(sample: Sample, tmp_path: Path) -> None:
    gold, good, bad = sample
    run = tmp_path / "run.json"
    run.write_text(karat.score(gold, good, keep_evidence=True).to_json(), encoding="utf-8")
    fresh = karat.compare(gold, good, bad).comparisons[0]
    stored = karat.compare(gold, bad, baseline=run)
    lost = next(n for n in [Report.from_json(run.read_bytes())]).evidence
    assert lost is not None
    assert stored.systems[0].stored
    assert stored.systems[0].scores == karat.score(gold, good).scores
    for a, b in zip(fresh.differences, stored.comparisons[0].differences, strict=True):
        assert (a.name, a.value, a.wins, a.ties) == (b.name, b.value, b.wins, b.ties)
        if a.name not in lost.left_out:
            assert (a.low, a.high, a.p) == (b.low, b.high, b.p)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("<!doctype html><html></html>", "is a page"),
        ('{"schema": 2, "n": 3}', "shape 2"),
        ("[1, 2]", "no run file"),
        ("", "no run file"),
        ("{}", "holds no evidence"),
    ],
)
def test_what_is_no_baseline_is_refused(data: Any, tmp_path: Path, content: str, why: str) -> None:
    other = tmp_path / "other.json"
    other.write_text(content, encoding="utf-8")
    with pytest.raises(karat.errors.UsageError, match=why):
        karat.compare(data.gold, data.systems["high"], baseline=other)


def test_more_types_than_the_baseline_had(worse: Any, tmp_path: Path) -> None:
    gold, good, _ = worse("entities")
    rows = [json.loads(line) for line in Path(good).read_text(encoding="utf-8").splitlines()]
    (key,) = rows[0]
    rows[0][key].append({"type": "NEW", "mentions": [{"start_offset": 0, "end_offset": 1}]})
    more = tmp_path / "more.jsonl"
    more.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    kept = karat.score(gold, good, keep_evidence=True)
    fresh, stored = karat.compare(gold, good, more), karat.compare(gold, more, baseline=kept)
    assert fresh.comparisons[0].differences == stored.comparisons[0].differences
    found = {one.name: one for one in fresh.comparisons[0].differences}
    # One false span more and one type more; nothing else changed.
    assert found["recall_micro"].value == 0
    assert found["f1_macro"].value is not None
    assert found["f1_macro"].value < 0
    # One span decides, which the swaps see and the derivative does not.
    assert found["f1_macro"].p is not None
    assert found["f1_macro"].p > 0.2
    assert any("f1_macro" in note and "believe the test" in note for note in fresh.notes)


def test_mentions_of_one_system_only_count_for_nothing_in_the_other(worse: Any) -> None:
    gold, good, bad = worse("entity-linking")
    report = karat.compare(gold, bad, good)
    found = {one.name: one for one in report.comparisons[0].differences}
    first, second = karat.score(gold, bad), karat.score(gold, good)
    name = "strong_mention_match.fscore"
    assert found[name].value == pytest.approx(second[name].value - first[name].value, abs=1e-12)  # type: ignore[operator]
    assert found[name].low is not None


def test_stored_evidence_of_another_gold_is_refused(data: Any, tmp_path: Path) -> None:
    kept = karat.score(data.gold, data.systems["low"], keep_evidence=True)
    other = tmp_path / "gold.jsonl"
    text = Path(data.gold).read_text(encoding="utf-8").replace("text 3", "text three")
    other.write_text(text, encoding="utf-8")
    with pytest.raises(karat.DataError, match="another gold") as refused:
        karat.compare(str(other), data.systems["high"], baseline=kept)
    assert [problem.code for problem in refused.value.problems] == ["baseline-gold"]


def test_stored_evidence_under_other_options_is_refused(worse: Any) -> None:
    gold, good, bad = worse("entities")
    kept = karat.score(gold, good, keep_evidence=True)
    with pytest.raises(karat.DataError, match="the default") as refused:
        karat.compare(gold, bad, baseline=kept, like="nervaluate")
    assert [problem.code for problem in refused.value.problems] == ["baseline-options"]


def test_a_run_without_evidence_is_refused(data: Any) -> None:
    plain = karat.score(data.gold, data.systems["low"])
    with pytest.raises(karat.UsageError, match="no evidence") as refused:
        karat.compare(data.gold, data.systems["high"], baseline=plain)
    assert "--keep-evidence" in refused.value.help


@pytest.mark.parametrize("spoil", ["digest", "data", "version", "column"])
def test_spoiled_evidence_is_refused(data: Any, spoil: str) -> None:
    kept = karat.score(data.gold, data.systems["low"], keep_evidence=True)
    evidence = kept.evidence
    assert evidence is not None
    ids = evidence.ids
    broken = {
        "digest": msgspec.structs.replace(evidence, digest="0" * 64),
        "version": msgspec.structs.replace(evidence, version=99),
        "data": msgspec.structs.replace(
            evidence, ids=msgspec.structs.replace(ids, data=ids.data[:-8])
        ),
        "column": msgspec.structs.replace(
            evidence,
            ids=msgspec.structs.replace(ids, data=base64.b64encode(b"junk").decode()),
        ),
    }
    kept.evidence = broken[spoil]
    with pytest.raises(karat.KaratError, match=r"changed|version"):
        karat.compare(data.gold, data.systems["high"], baseline=kept)


@pytest.mark.parametrize(("seed", "drawn"), [(12345, True), (1, False)])
def test_a_stored_run_that_was_drawn_otherwise_has_no_bootstrap(
    worse: Any, seed: int, drawn: bool
) -> None:
    gold, good, bad = worse("object-detection")
    kept = karat.score(gold, bad, keep_evidence=True)
    report = karat.compare(gold, good, baseline=kept, seed=seed)
    assert ("bootstrap" in report.comparisons[0].differences[0].test) is drawn


@pytest.mark.parametrize("level", ["zlib", "length", "codes"])
def test_evidence_that_lies_with_a_good_hash_is_refused(data: Any, level: str) -> None:
    from karat.model.kept import Packed
    from karat.run import keeping

    kept = karat.score(data.gold, data.systems["low"], keep_evidence=True)
    evidence = kept.evidence
    assert evidence is not None
    part = evidence.parts[0]
    codes = part.arrays["codes"]
    lies = {
        "zlib": msgspec.structs.replace(codes, data=base64.b64encode(b"junk").decode()),
        "length": msgspec.structs.replace(codes, shape=[3]),
        "codes": Packed.of("<i4", codes.shape, b"\x7f\x00\x00\x00" * codes.shape[0]),
    }
    arrays = {**part.arrays, "codes": lies[level]}
    parts = [msgspec.structs.replace(part, arrays=arrays), *evidence.parts[1:]]
    lying = msgspec.structs.replace(evidence, parts=parts)
    kept.evidence = msgspec.structs.replace(lying, digest=keeping._digest(lying))
    with pytest.raises(karat.KaratError, match="cannot be read"):
        karat.compare(data.gold, data.systems["high"], baseline=kept)


def test_other_items_are_refused_by_name(worse: Any, tmp_path: Path) -> None:
    gold, good, _ = worse("squad1")
    said = json.loads(Path(good).read_text(encoding="utf-8"))
    gone = sorted(said)[:2]
    short = tmp_path / "short.json"
    short.write_text(json.dumps({k: v for k, v in said.items() if k not in gone}), encoding="utf-8")
    with pytest.raises(karat.DataError) as refused:
        karat.compare(gold, good, str(short), missing="skip")
    problems = [p for p in refused.value.problems if p.severity == "error"]
    assert [(p.code, p.file) for p in problems] == [("items-differ", "short")]
    assert all(key in problems[0].message for key in gone)


def test_defects_of_every_system_are_told_at_once(data: Any, tmp_path: Path) -> None:
    bad = []
    for name in ("one", "two"):
        path = tmp_path / f"{name}.jsonl"
        path.write_text('{"probabilities": [0.5, 0.9]}\n', encoding="utf-8")
        bad.append(str(path))
    with pytest.raises(karat.DataError) as refused:
        karat.compare(data.gold, *bad, task="text-classification")
    files = {problem.file for problem in refused.value.problems if problem.severity == "error"}
    assert set(bad) <= files


@pytest.mark.parametrize(("margin", "passed"), [(0.0, False), (0.05, False), (0.5, True)], ids=str)
def test_the_gate_judges_the_bound(data: Any, margin: float, passed: bool) -> None:
    rule = f"accuracy={margin}"
    report = karat.compare(data.gold, data.systems["high"], data.systems["low"], fail_if_worse=rule)
    (gate,) = report.gates
    found = report.comparisons[0].differences[0]
    assert gate.passed is passed
    assert gate.value == pytest.approx(-found.low)  # type: ignore[operator]


def test_the_gate_knows_that_a_loss_is_better_low(data: Any) -> None:
    report = karat.compare(
        data.gold, data.systems["low"], data.systems["high"], fail_if_worse="log_loss=0"
    )
    (gate,) = report.gates
    found = next(d for d in report.comparisons[0].differences if d.name == "log_loss")
    assert gate.value == pytest.approx(found.high)
    assert gate.passed is (found.high is not None and found.high <= 0)


@pytest.mark.parametrize("bootstrap", [0, 200])
@pytest.mark.parametrize(
    ("names", "passed", "told"),
    [
        (("right", "wrong"), False, "wrong loses to right by 100"),
        (("wrong", "right"), True, "right beats wrong by 100"),
        (("right", "right"), True, "the same on every item"),
    ],
)
def test_what_differs_on_every_item_alike_is_no_agreement(
    names: tuple[str, str], passed: bool, told: str, bootstrap: int
) -> None:
    labels = [0, 1] * 10
    said = {"right": labels, "wrong": [1 - y for y in labels]}
    gold = [{"text": "t", "label": y} for y in labels]
    sides = [[{"probabilities": [0.9 - 0.8 * y, 0.1 + 0.8 * y]} for y in said[n]] for n in names]
    report = karat.compare(
        gold,
        *sides,
        names=names if names[0] != names[1] else ["a", "b"],
        task="text-classification",
        bootstrap=bootstrap,
        fail_if_worse=["accuracy=0", "log_loss=0", "auroc_ovr_macro=0"],
    )
    assert [gate.passed for gate in report.gates] == [passed] * 3
    assert told in report.comparisons[0].sentence
    found = report.comparisons[0].differences[0]
    assert (found.low, found.high, found.smallest_seen) == (None, None, None)


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("accuracy", "cannot read the rule"),
        ("accuracy=-1", "cannot read the rule"),
        ("accurasy=0.1", "no score named"),
        ("average_confidence=0.1", "no better and worse"),
    ],
)
def test_a_gate_that_cannot_be_judged_is_refused(data: Any, rule: str, told: str) -> None:
    with pytest.raises(karat.UsageError, match=told):
        karat.compare(data.gold, data.systems["low"], data.systems["high"], fail_if_worse=rule)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["runs/a.jsonl", "runs/b.json.gz"], ["a", "b"]),
        (["llama3.1.jsonl", "llama3.2.jsonl"], ["llama3.1", "llama3.2"]),
        (["runs/1/p.json", "runs/2/p.json", "runs/1/q.json"], ["1/p", "2/p", "1/q"]),
        (["old.json", "old.csv"], ["old.json", "old.csv"]),
        (["p.json", "p.json"], ["p 1", "p 2"]),
    ],
)
def test_systems_are_called_by_what_is_different_in_their_paths(
    paths: list[str], names: list[str]
) -> None:
    requests = [Request(gold=(), predictions=(Source(path),)) for path in paths]
    assert system_names(requests) == names


def test_one_system_is_no_comparison(data: Any) -> None:
    with pytest.raises(karat.UsageError, match="two systems"):
        karat.compare(data.gold, data.systems["low"])
    with pytest.raises(karat.UsageError):
        karat.compare(data.gold)


def test_superscripts_name_those_surely_beaten(data: Any) -> None:
    names = ("low", "high", "other")
    report = karat.compare(data.gold, *(data.systems[name] for name in names))
    (found,) = (one for one in report.comparisons if one.system == "high")
    accuracy = next(one for one in found.differences if one.name == "accuracy")
    assert accuracy.adjusted_p is not None
    assert ("low" in report.systems[1].beats.get("accuracy", [])) is (accuracy.adjusted_p < 0.05)
    assert "high" not in report.systems[0].beats.get("accuracy", [])


def test_the_report_survives_its_own_json(data: Any) -> None:
    report = karat.compare(data.gold, data.systems["low"], data.systems["high"], by="meta.group")
    assert Report.from_json(report.to_json()) == report


def test_seed_and_order_of_systems_fix_the_answer(data: Any) -> None:
    one = karat.compare(data.gold, data.systems["low"], data.systems["high"], seed=3)
    two = karat.compare(data.gold, data.systems["low"], data.systems["high"], seed=3)
    assert one.to_json() == two.to_json()


def test_one_file_for_each_system_in_an_option(worse: Any) -> None:
    gold, good, bad = worse("squad2")
    chances = str(Path(good).with_name("na_probs.json"))
    shared = karat.compare(gold, good, bad, na_probs=chances)
    apart = karat.compare(gold, good, bad, na_probs=f"{chances},{chances}")
    assert shared.comparisons[0].differences == apart.comparisons[0].differences
