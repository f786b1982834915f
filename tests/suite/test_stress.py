"""The behaviour of a stress run: gates, switches, what is skipped, and what is refused."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import msgspec
import numpy as np
import pytest
from scipy import stats
from suite.runs import case, find

import karat
from karat.cli.main import main
from karat.model.report import Report
from karat.model.seen import Trials
from karat.model.suite import worst
from karat.present.html.embedded import reports_in
from karat.present.html.page import render
from karat.stats.multiple import benjamini_hochberg
from karat.suite import subsets
from karat.suite.limits import LIMITS, limits

Rows = list[dict[str, Any]]


def rows(n: int, seed: int, *, weak: float = 0.0) -> tuple[Rows, Rows]:
    """Texts with a label, a column and a number, and predictions as sure as they should be.

    Where the column is b, `weak` more are wrong.
    """
    rng = np.random.default_rng(seed)
    data, predictions = [], []
    for i in range(n):
        label, column = int(rng.integers(2)), "ab"[int(rng.integers(2))]
        p = 0.7 + 0.29 * rng.random()
        right = rng.random() < p - (weak if column == "b" else 0)
        mine = label if right else 1 - label
        vector = [p, 1 - p] if mine == 0 else [1 - p, p]
        text = f"word{rng.integers(40)} word{rng.integers(40)} item{seed}x{i}"
        meta = {"column": column, "number": float(rng.normal())}
        data.append({"text": text, "label": label, "meta": meta})
        predictions.append({"probabilities": vector})
    return data, predictions


def run(ref: tuple[Rows, Rows | None], other: tuple[Rows, Rows | None], **more: Any) -> Report:
    """The run of two sides in memory."""
    return karat.stress(
        task="text-classification",
        ref=ref[0],
        ref_predictions=ref[1],
        evaluation=other[0],
        eval_predictions=other[1],
        **more,
    )


def without(data: Rows, key: str) -> Rows:
    return [{k: v for k, v in row.items() if k != key} for row in data]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """A configuration with its files in a folder, whose evaluation has a weak subset."""
    for side, made in (("ref", rows(200, 1)), ("eval", rows(200, 2, weak=0.5))):
        for name, part in zip((side, f"{side}_predictions"), made, strict=True):
            text = "".join(json.dumps(row) + "\n" for row in part)
            (tmp_path / f"{name}.jsonl").write_text(text, "utf-8")
    content = {
        "run_name": "a run",
        "model_task": "Text Classification",
        "model_info": None,
        "data_info": {"ref_path": "ref.jsonl", "eval_path": "eval.jsonl"},
        "prediction_info": {
            "ref_path": "ref_predictions.jsonl",
            "eval_path": "eval_predictions.jsonl",
            "n_samples": None,
        },
        "data_profiling_info": {
            "custom_categorical_metadata": ["column"],
            "custom_numeric_metadata": ["number"],
        },
        "random_seed": 7,
    }
    (tmp_path / "config.json").write_text(json.dumps(content), "utf-8")
    return tmp_path


def edited(folder: Path, **keys: Any) -> Path:
    path = folder / "edited.json"
    content = json.loads((folder / "config.json").read_text("utf-8"))
    path.write_text(json.dumps({**content, **keys}), "utf-8")
    return path


# --- what is found -----------------------------------------------------------------------------


def test_a_planted_weak_subset_fails(saved: Path) -> None:
    """Half of the rows of b are wrong in evaluation: subset and degradation fail, with rows."""
    report = karat.stress(saved / "config.json")
    for name in ("subset_performance", "subset_degradation"):
        found = case(report, name, "meta.column = b")
        assert found.status == "fail"
        lines = (saved / "eval.jsonl").read_text("utf-8").splitlines()
        said = (saved / "eval_predictions.jsonl").read_text("utf-8").splitlines()
        wrong = [
            i
            for i, (row, answer) in enumerate(
                zip(map(json.loads, lines), map(json.loads, said), strict=True)
            )
            if row["meta"]["column"] == "b"
            and row["label"] != int(np.argmax(answer["probabilities"]))
        ]
        assert found.rows_total == len(wrong)
        assert [row.index for row in found.rows] == wrong[: len(found.rows)]
        assert all(row.line == row.index + 1 for row in found.rows)
    assert not report.ok


def test_the_same_data_twice_has_no_drift() -> None:
    """Nothing moved: every drift test and every degradation passes, each change is 0."""
    side = rows(150, 3)
    report = run(side, side)
    for test in report.to_dict()["tests"]:
        if test["category"] in ("drift", "subset degradation"):
            assert test["status"] in ("pass", "skip"), test["name"]
    assert all(one["change"] == 0 for one in report.to_dict()["metrics"].values())
    assert find(report, "ref_eval_overlap").status == "fail"


def test_fishers_test_and_families() -> None:
    """p is SciPy's; q is over the family, and a failure also needs all families together."""
    rng = np.random.default_rng(5)
    code = rng.integers(0, 4, 400)
    hit = rng.random(400) < np.where(code == 1, 0.5, 0.9)
    trials = Trials("kind", "recall", tuple("abcd"), code, hit, np.arange(400))
    side = _side(400)
    found = subsets._weaker(trials, trials, LIMITS["subset_performance"], side)
    assert len(found) == 4
    for kind, one in enumerate(found):
        inside = code == kind
        table = [
            [int((hit & inside).sum()), int((~hit & inside).sum())],
            [int((hit & ~inside).sum()), int((~hit & ~inside).sum())],
        ]
        assert one.case.p == pytest.approx(stats.fisher_exact(table, alternative="less")[1])
    gated = subsets._gated([found, found[:1]], LIMITS["subset_performance"])
    assert found[1].case.status == "fail"
    assert [one.case.status for one in found if one is not found[1]] == ["pass"] * 3
    assert len(gated) == 5
    assert [one.case.q for one in found[1:]] == benjamini_hochberg([one.case.p for one in found])[
        1:
    ]


def _side(n: int) -> Any:
    from karat.model.seen import Seen
    from karat.suite.observed import Observed

    return Observed(Seen("rows", n, lambda record: None, np.ones(n, dtype=bool)))


def test_small_effects_pass_however_sure() -> None:
    """A drop of 0.03 over 100,000 rows is certain, and still below the warning level."""
    rng = np.random.default_rng(6)
    code = rng.integers(0, 2, 100_000)
    hit = rng.random(100_000) < np.where(code == 1, 0.87, 0.90)
    trials = Trials("kind", "recall", ("a", "b"), code, hit, np.arange(100_000))
    found = subsets._weaker(trials, trials, LIMITS["subset_performance"], _side(100_000))
    subsets._gated([found], LIMITS["subset_performance"])
    assert found[1].case.p is not None
    assert found[1].case.p < 1e-10
    assert found[1].case.status == "pass"


def test_flips_of_perturbed_inputs() -> None:
    """Every fifth prediction is turned round: 20 % flip, and those rows are named."""
    ref, other = rows(100, 8), rows(100, 9)
    turned = [
        {"probabilities": row["probabilities"][:: -1 if i % 5 == 0 else 1]}
        for i, row in enumerate(other[1])
    ]
    report = run(ref, other, perturbed_predictions=turned)
    found = case(report, "perturbation_flips", "predictions")
    assert found.value == pytest.approx(0.2)
    assert found.status == "fail"
    assert [row.index for row in found.rows] == list(range(0, 100, 5))[: len(found.rows)]
    assert found.rows_total == 20
    moved = [abs(2 * row["probabilities"][0] - 1) for row in other[1][::5]]
    assert found.table["mean change of probability"] == pytest.approx(sum(moved) / 100)


def test_few_flips_on_few_rows_are_chance() -> None:
    """Four of 40 flip: twice the warning level, but the interval begins below it."""
    ref, other = rows(40, 8), rows(40, 9)
    turned = [
        {"probabilities": row["probabilities"][:: -1 if i % 10 == 0 else 1]}
        for i, row in enumerate(other[1])
    ]
    found = case(run(ref, other, perturbed_predictions=turned), "perturbation_flips", "predictions")
    assert (found.value, found.status) == (0.1, "pass")


def test_the_seed_fixes_the_run() -> None:
    """The same seed gives the same document, but for the clock."""
    sides = rows(60, 10), rows(60, 11)
    first, second, other = (run(*sides, seed=seed) for seed in (1, 1, 2))
    assert numbers(first) == numbers(second)
    assert numbers(first) != numbers(other)


def numbers(report: Report) -> list[Any]:
    return [c.get("p") for test in report.to_dict()["tests"] for c in test["cases"]]


# --- what cannot be judged ---------------------------------------------------------------------


def test_without_labels() -> None:
    """Drift and confidence remain; what needs labels is skipped with the reason."""
    ref, other = rows(80, 12), rows(80, 13)
    report = run((without(ref[0], "label"), ref[1]), (without(other[0], "label"), other[1]))
    assert find(report, "predicted_label_drift").status == "pass"
    assert find(report, "average_confidence").status == "pass"
    for name in ("label_drift", "overall_metrics", "calibration_error", "subset_performance"):
        assert find(report, name).status == "skip"
        assert find(report, name).reason


def test_with_labels_of_reference_only() -> None:
    """Accuracy is still estimated, and nothing that needs both sides is made up."""
    ref, other = rows(80, 12), rows(80, 13)
    report = run(ref, (without(other[0], "label"), other[1]))
    assert find(report, "estimated_accuracy").status == "pass"
    assert find(report, "label_drift").status == "skip"
    assert [p.code for p in report.problems] == ["label-one-side"]


def test_without_predictions() -> None:
    """The data alone can be tested."""
    report = run((rows(80, 12)[0], None), (rows(80, 13)[0], None))
    assert find(report, "label_drift").status == "pass"
    assert find(report, "predicted_label_drift").status == "skip"


def test_a_handful_of_rows() -> None:
    """Too few rows are said to be too few; nothing fails for it."""
    report = run(rows(5, 14), rows(5, 15))
    assert find(report, "label_drift").status == "skip"
    assert "30 are needed" in find(report, "label_drift").reason
    for name in ("overall_metrics", "average_confidence", "subset_performance"):
        assert find(report, name).status == "skip"


def test_few_rows_are_said_to_see_little() -> None:
    """A pass on 40 rows a side does not say that there is no drift."""
    report = run(rows(40, 16), rows(40, 17))
    assert case(report, "label_drift", "labels").underpowered


def test_missing_metadata_is_counted() -> None:
    """A third of the numbers is gone: a third of the rows is named."""
    ref, other = rows(90, 18), rows(90, 19)
    for row in other[0][::3]:
        row["meta"]["number"] = None
    report = run(ref, other, numeric=("number",), categorical=("column",))
    found = case(report, "metadata_null", "number")
    assert (found.status, found.rows_total) == ("fail", 30)


def test_a_known_rate_of_missing_values_is_an_estimate() -> None:
    """Nulls as often as reference has them, within Fisher's exact test; far more fail."""
    ref, some, many = rows(60, 18), rows(60, 19), rows(60, 20)
    for side, every in ((ref, 20), (some, 8), (many, 3)):
        for row in side[0][::every]:
            row["meta"]["number"] = None
    for other, hits, status in ((some, 8, "pass"), (many, 20, "fail")):
        found = case(run(ref, other), "metadata_null", "number")
        table = [[hits, 60 - hits], [3, 57]]
        assert found.p == pytest.approx(stats.fisher_exact(table, alternative="greater")[1])
        assert (found.status, found.rows_total) == (status, hits)


def test_a_single_gap_warns_where_reference_has_none() -> None:
    """One null of 60 is worth a look, and no failure."""
    ref, other = rows(60, 18), rows(60, 19)
    other[0][5]["meta"]["number"] = None
    found = case(run(ref, other), "metadata_null", "number")
    assert (found.status, [row.index for row in found.rows]) == ("warning", [5])


@pytest.mark.parametrize("task", ["text-classification", "entities"])
def test_names_of_metadata_may_hold_dots_and_stars(task: str) -> None:
    """They are keys of `meta`, no paths through it."""
    ref, other = rows(60, 18), rows(60, 19)
    for row in (*ref[0], *other[0]):
        row["meta"] = {"a.b": "x", "5*": 1.5}
        row["entities"] = row["predicted_entities"] = []
    report = karat.stress(
        task=task,
        ref=ref[0],
        evaluation=other[0],
        ref_predictions=None if task == "entities" else ref[1],
        eval_predictions=None if task == "entities" else other[1],
        numeric=("5*",),
        categorical=("a.b",),
    )
    assert [one.subject for one in find(report, "metadata_null").cases] == ["5*", "a.b"]


def test_a_name_that_cannot_be_looked_for_is_refused() -> None:
    with pytest.raises(karat.UsageError, match="cannot be named"):
        run(rows(40, 1), rows(40, 2), categorical=('a"b',))


# --- settings ----------------------------------------------------------------------------------


def test_settings_switch_and_move() -> None:
    """Two or three levels, the vendor's names, categories."""
    found = limits({"label_drift": {"severity_thresholds": [0.1, 0.2, 0.3]}, "atc": {"run": False}})
    assert (found["label_drift"].warn, found["label_drift"].fail) == (0.1, 0.3)
    assert not found["estimated_accuracy"].run
    kept = limits({"categories": ["Drift"]})
    assert kept["label_drift"].run
    assert not kept["overall_metrics"].run
    assert limits({"label_drift": {"severity_thresholds": [None, 0.5]}})["label_drift"].warn is None


def test_kinds_and_the_default() -> None:
    """Named kinds run alone, unless the others are asked for; a test's own switch is last."""
    off = limits({"run_default": False, "label_drift": {"run": True}})
    assert [name for name, limit in off.items() if limit.run] == ["label_drift"]
    assert all(
        limit.run for limit in limits({"run_default": True, "categories": ["Drift"]}).values()
    )
    vendors = limits({"categories": ["Model Performance", "subset degradation"]})
    kinds = {limit.category for limit in vendors.values() if limit.run}
    assert kinds == {"performance", "calibration", "subset degradation"}


@pytest.mark.parametrize("levels", [[0.0, 0.5], [0.0, 0.1, 0.5]])
@pytest.mark.parametrize("apart", [False, True])
def test_levels_of_a_configuration(saved: Path, levels: list[float], apart: bool) -> None:
    """Two or three levels, here or in a file of their own, move what a test is judged by."""
    tests = {"label_drift": {"severity_thresholds": levels}, "empty_text": {"run": False}}
    if apart:
        (saved / "tests.json").write_text(json.dumps(tests), "utf-8")
        path = edited(saved, tests_config_path="tests.json")
    else:
        path = edited(saved, tests_config=tests)
    report = karat.stress(path)
    found = case(report, "label_drift", "labels")
    assert (found.warn, found.fail) == (0.0, 0.5)
    assert find(report, "empty_text").reason == "switched off"


@pytest.mark.parametrize(
    ("levels", "wrong", "status"),
    [
        (None, 1.0, "fail"),
        ([0.05, None], 1.0, "warning"),
        ([None, None], 1.0, "pass"),
        ([0.9, 0.8], 0.0, "fail"),
        ([0.99, 0.0], 0.0, "warning"),
        (None, 0.0, "pass"),
    ],
)
def test_a_gain_is_judged_downwards(levels: Any, wrong: float, status: str) -> None:
    """All wrong or nearly all right, against always saying one class; a null level is nowhere."""
    other = rows(200, 3)
    for row, said in zip(*other, strict=True):
        said["probabilities"] = [[0.9, 0.1], [0.1, 0.9]][row["label"] ^ int(wrong)]
    tests = {"better_than_constant": {"severity_thresholds": levels}}
    report = run(rows(60, 2), other, tests=tests)
    assert find(report, "better_than_constant").status == status


def test_a_gain_of_few_rows_only_warns() -> None:
    """20 of 40 right where one class has 20: the interval reaches far above the level."""
    data = [{"text": f"t{i}", "label": i % 2} for i in range(40)]
    said = [{"probabilities": [0.9, 0.1]} for _ in data]
    report = run((data, said), (data, said))
    assert find(report, "better_than_constant").status == "warning"


def test_stop_words_are_left_out_on_demand(saved: Path) -> None:
    """What only stop words changed is seen without the filter, and not with it."""
    for side, words in (("ref", "the a"), ("eval", "of their the of")):
        told = [json.loads(x) for x in (saved / f"{side}.jsonl").read_text("utf-8").splitlines()]
        text = "".join(json.dumps({**r, "text": f"Pale horse, {words}."}) + "\n" for r in told)
        (saved / f"{side}.jsonl").write_text(text, "utf-8")
    for wanted, status in ((False, "fail"), (True, "pass")):
        report = karat.stress(
            edited(saved, data_profiling_info={"ngram_filter_stop_words": wanted})
        )
        for name in ("unigram_drift", "bigram_drift", "unseen_words"):
            assert find(report, name).status == status


def test_a_switched_off_test_is_skipped(saved: Path) -> None:
    path = edited(saved, tests_config={"subset_performance": {"run": False}})
    found = find(karat.stress(path), "subset_performance")
    assert (found.status, found.reason) == ("skip", "switched off")


@pytest.mark.parametrize(
    ("keys", "code"),
    [
        ({"tests_config": {"label_drif": {}}}, "config-unknown-key"),
        ({"tests_config": {"label_drift": 3}}, "config-type"),
        ({"model_tsak": "x"}, "config-unknown-key"),
        ({"random_seed": "7"}, "config-type"),
        ({"tests_config": {}, "tests_config_path": "t.json"}, "config-exclusive"),
        ({"perturbation_info": {"eval_path": "x"}}, "config-missing-key"),
        ({"data_info": {"type": "custom", "load_path": "load.py"}}, "config-code"),
    ],
)
def test_a_wrong_configuration_is_refused(saved: Path, keys: dict[str, Any], code: str) -> None:
    with pytest.raises(karat.DataError) as caught:
        karat.stress(edited(saved, **keys))
    assert code in {problem.code for problem in caught.value.problems}


def test_a_test_of_others_is_ignored(saved: Path) -> None:
    """Settings for tests that need a model are no error."""
    report = karat.stress(edited(saved, tests_config={"hop_skip_jump_attack": {"run": True}}))
    assert [p.code for p in report.problems] == ["config-unknown-test"]


def test_code_runs_only_when_allowed(saved: Path) -> None:
    """The loader's rows are those of the files."""
    (saved / "load.py").write_text(
        "import json, pathlib\n"
        "here = pathlib.Path(__file__).parent\n"
        "def read(name):\n"
        "    return [json.loads(line) for line in (here / name).read_text('utf-8').splitlines()]\n"
        "def get_ref_data():\n"
        "    return read('ref.jsonl')\n"
        "def get_eval_data():\n"
        "    return read('eval.jsonl')\n",
        "utf-8",
    )
    path = edited(saved, data_info={"type": "custom", "load_path": "load.py"})
    loaded = karat.stress(path, allow_code=True)
    assert numbers(loaded) == numbers(karat.stress(saved / "config.json"))


# --- the command -------------------------------------------------------------------------------


def test_status_and_files(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit 1 where a test fails; every file is written, the page is small, the rows complete."""
    out = {kind: saved / f"out.{kind}" for kind in ("html", "xml", "md", "json", "csv")}
    words = [part for path in out.values() for part in ("--out", str(path))]
    failing = saved / "failing.csv"
    status = main(["stress", str(saved / "config.json"), *words, "--failing-rows", str(failing)])
    page = capsys.readouterr().out
    assert status == 1
    assert max(map(len, page.splitlines())) <= 80
    assert "FAIL  Subsets against the rest  subset_performance" in page
    assert out["html"].stat().st_size < 1_000_000
    report = Report.from_json(out["json"].read_bytes())
    told = list(csv.DictReader(io.StringIO(failing.read_text("utf-8"))))
    wanted = sum(
        c.rows_total
        for test in report.to_dict()["tests"]
        for c in msgspec.convert(test["cases"], list[type(report.tests[0].cases[0])])  # type: ignore[index, union-attr]
        if c.status in ("warning", "fail")
    )
    assert len(told) == wanted > 0
    assert {"file", "line", "index", "test", "subject", "status"} == set(told[0])
    root = ET.fromstring(out["xml"].read_text("utf-8"))
    counts = report.to_dict()["summary"]["counts"]
    assert int(root.attrib["failures"]) == counts["fail"] == len(root.findall(".//failure"))
    assert len(root.findall(".//skipped")) == counts["skip"]
    assert "subset_performance" in out["md"].read_text("utf-8")


def test_flags_describe_the_same_run(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run of a configuration, without one."""
    words = ["stress", "--task", "text-classification", "--seed", "7", "--json", "--quiet"]
    for side in ("ref", "eval"):
        words += [f"--{side}", str(saved / f"{side}.jsonl")]
        words += [f"--{side}-predictions", str(saved / f"{side}_predictions.jsonl")]
    words += ["--numeric", "number", "--categorical", "column"]
    assert main(words) == 1
    flags = json.loads(capsys.readouterr().out)
    assert main(["stress", str(saved / "config.json"), "--json", "--quiet"]) == 1
    config = json.loads(capsys.readouterr().out)
    assert flags["metrics"] == config["metrics"]
    assert [t["status"] for t in flags["tests"]] == [t["status"] for t in config["tests"]]


def test_settings_and_a_name_beside_a_configuration(
    saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file of settings takes the place of the configuration's own; a broken one is named."""
    path = edited(saved, tests_config={"categories": ["Drift"]})
    tests = saved / "tests.json"
    tests.write_text('{"categories": ["Subset Performance"]}', "utf-8")
    words = ["stress", str(path), "--tests", str(tests), "--name", "mine", "--json", "--quiet"]
    assert main(words) == 1
    told = json.loads(capsys.readouterr().out)
    assert told["run"]["name"] == "mine"
    assert {t["category"] for t in told["tests"] if t["reason"] != "switched off"} == {
        "subsets",
        "subset degradation",
    }
    tests.write_text('{"subset_performanc": {}}', "utf-8")
    assert main(words) == 2
    assert "did you mean 'subset_performance'?" in capsys.readouterr().err


def test_warnings_fail_on_demand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--fail-on warning` is stricter than the default."""
    data, predictions = rows(100, 20)
    other, answers = rows(100, 21)
    other[99]["text"] = other[98]["text"]
    words = ["stress", "--task", "text-classification", "--quiet"]
    for name, part in (("ref", data), ("ref-predictions", predictions),
                       ("eval", other), ("eval-predictions", answers)):  # fmt: skip
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in part), "utf-8")
        words += [f"--{name}", str(path)]
    loud = [main(words), main([*words, "--fail-on", "warning"])]
    assert "duplicate_rows" in capsys.readouterr().out
    assert loud == [0, 1]


@pytest.mark.parametrize(
    "words",
    [
        ["stress"],
        ["stress", "missing.json"],
        ["stress", "--task", "squad", "--ref", "a", "--eval", "b"],
        ["stress", "--task", "nli", "--ref", "a.jsonl"],
        ["stress", "config.json", "--task", "nli"],
        ["stress", "config.json", "--numeric", "a"],
        ["stress", "--task", "nli", "--ref", "-", "--eval", "-"],
        ["stress", "config.json", "--perturbed", "a.jsonl"],
    ],
)
def test_what_cannot_run_is_status_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_worst_of_nothing_is_skip() -> None:
    assert worst([]) == "skip"
    assert worst(["pass", "warning", "skip"]) == "warning"


def test_a_page_of_many_cases_stays_small() -> None:
    """Thousands of subsets: the page shows and holds the worst, the document all of them."""
    report = run(rows(120, 1), rows(120, 2))
    test = find(report, "subset_performance")
    test.cases *= 300
    page = render(report)
    assert len(page) < 1_000_000
    (held,) = reports_in(page)
    assert len(find(held, "subset_performance").cases) == 20
    assert f"and {len(test.cases) - 20} more cases in the JSON document" in page.decode()


def test_metadata_may_stand_flat() -> None:
    """Data frames made of nested rows have `meta.number` in place of `meta`, declared or not."""
    sides = rows(60, 18), rows(60, 19)
    flat = [
        ([{"text": r["text"], "label": r["label"],
           **{f"meta.{k}": v for k, v in r["meta"].items()}} for r in data], said)
        for data, said in sides
    ]  # fmt: skip
    told = {"numeric": ("number",), "categorical": ("column",)}
    for more in ({}, told):
        assert numbers(run(*flat, **more)) == numbers(run(*sides, **more))
    seen = case(run(*flat, **told), "metadata_drift", "number")
    assert seen.value is not None


@pytest.mark.parametrize(("scale", "odd"), [(1, [3, 5, 7]), (640, [5])])
def test_odd_boxes(scale: int, odd: list[int]) -> None:
    """One that sticks out, one written twice, a tiny one; pixels have no border and no fraction."""
    data, said = [], []
    for i in range(40):
        box = [0.1 + 0.01 * i, 0.2, 0.3 + 0.01 * i, 0.5]
        box[2] = {3: 1.004, 7: box[0] + 1e-5}.get(i, box[2])
        named = dict(zip(("x_min", "y_min", "x_max", "y_max"), box, strict=True))
        named = {key: scale * x for key, x in named.items()}
        boxes = [{**named, "probabilities": [0.9, 0.1]}] * (2 if i == 5 else 1)
        data.append({"image_path": f"{i}.png", "label": [{**named, "class_id": 0}]})
        said.append({"predicted_bounding_boxes": boxes})
    report = karat.stress(
        task="object-detection",
        ref=data,
        ref_predictions=said,
        evaluation=data,
        eval_predictions=said,
    )
    found = case(report, "box_quality", "predictions")
    assert [row.index for row in found.rows] == odd
    assert found.value == pytest.approx(len(odd) / 41)
