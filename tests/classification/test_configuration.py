"""Run configurations: both shapes are read, and every fault of a configuration is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from classification.defects import EVAL, PRED, clean, write

from karat.model.problem import Problems
from karat.run.configuration import check_configuration, load


def faults(config: dict[str, Any], folder: Path, **options: bool) -> list[tuple[str, str | None]]:
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    problems = Problems()
    configuration = load(path, problems, **options)
    assert (configuration is None) == bool(problems.errors)
    return [(p.code, p.key) for p in problems]


def plain() -> dict[str, Any]:
    config: dict[str, Any] = clean("text")["config.json"]
    return config


def split() -> dict[str, Any]:
    config = plain()
    del config["prediction_info"]
    config["data_info"] = {
        f"{side}_data_info": {
            "file_name": f"{side}.jsonl",
            "embeddings": [{"key": "vector"}],
            "prediction_info": {"path": f"{side}_predictions.jsonl", "n_samples": None},
        }
        for side in ("ref", "eval")
    }
    return config


def test_requests_name_files_as_the_configuration_does(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(plain()))
    configuration = load(tmp_path / "config.json", Problems())
    assert configuration is not None
    sides = configuration.requests()
    assert [side for side, _ in sides] == ["ref", "eval"]
    request = sides[1][1]
    assert [s.name for s in (*request.gold, *request.predictions)] == [EVAL, PRED]
    assert request.declared.numeric == ("order_value",)
    assert request.declared.embeddings == ("vector",)
    assert configuration.card.name == "text-classification"
    assert configuration.seed == 42


def test_a_split_configuration_reads_the_same_files(tmp_path: Path) -> None:
    run = clean("text")
    run["config.json"] = split()
    run[PRED][3] = {"probabilities": None}
    problems = Problems()
    check_configuration(write(run, tmp_path), problems)
    assert [(p.code, p.file, p.line) for p in problems] == [("probabilities-null", PRED, 4)]


def test_predictions_may_be_absent_or_inline(tmp_path: Path) -> None:
    run = clean("text")
    del run["config.json"]["prediction_info"]
    problems = Problems()
    check_configuration(write(run, tmp_path), problems)
    assert list(problems) == []


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    config = plain()
    config.update(random_seed="x", colour="red", tests_config_path="t.json")
    config["data_info"]["embeddings"] = ["vector"]
    config["tests_config"]["label_drift"] = {"severity_thresholds": [0.1]}
    assert faults(config, tmp_path) == [
        ("config-type", "random_seed"),
        ("config-unknown-key", "colour"),
        ("config-exclusive", "tests_config"),
        ("config-type", "data_info.embeddings"),
        ("config-thresholds", "tests_config.label_drift.severity_thresholds"),
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"data_info": []}, ("config-type", "data_info")),
        ({"model_task": 3}, ("config-type", "model_task")),
        ({"model_info": {"path": "model.py"}}, ("config-model", "model_info")),
        ({"data_info": {"type": "sql"}}, ("config-value", "data_info.type")),
        (
            {"data_info": {"type": "huggingface"}},
            ("config-missing-key", "data_info.dataset_uri"),
        ),
        (
            {"data_info": {"type": "custom", "load_path": "load.py"}},
            ("config-code", "data_info.load_path"),
        ),
        (
            {"data_profiling_info": {"class_names": "a"}},
            ("config-type", "data_profiling_info.class_names"),
        ),
        (
            {"tests_config": {"label_drift": {"severity_thresholds": ["a", 1]}}},
            ("config-thresholds", "tests_config.label_drift.severity_thresholds"),
        ),
    ],
)
def test_each_fault(change: dict[str, Any], fault: tuple[str, str], tmp_path: Path) -> None:
    assert faults({**plain(), **change}, tmp_path) == [fault]


@pytest.mark.parametrize("thresholds", [[0.1, 0.2], [0.1, 0.1, 0.2], [None, 0.2], None])
def test_thresholds_that_are_fine(thresholds: Any, tmp_path: Path) -> None:
    tests = {"label_imbalance": {"severity_thresholds": thresholds}}
    assert faults({**plain(), "tests_config": tests}, tmp_path) == []


def test_faults_of_one_side_of_a_split_configuration(tmp_path: Path) -> None:
    config = split()
    side = config["data_info"]["eval_data_info"]
    side.update(file_name=None, filename="eval.jsonl")
    side["prediction_info"]["n_samples"] = 5
    config["prediction_info"] = {"ref_path": None}
    assert faults(config, tmp_path) == [
        ("config-unknown-key", "data_info.eval_data_info.filename"),
        ("config-exclusive", "data_info.eval_data_info.prediction_info.n_samples"),
        ("config-missing-key", "data_info.eval_data_info.file_name"),
        ("config-exclusive", "prediction_info"),
    ]


@pytest.mark.parametrize(
    ("side", "fault"),
    [
        ({"type": "custm", "load_path": "l.py"}, ("config-value", "type")),
        ({"type": "custom", "file_name": "l.py"}, ("config-missing-key", "load_path")),
        ({"file_name": "a", "load_path": "l.py"}, ("config-exclusive", None)),
        ({"load_path": "l.py", "loader_kwargs_json": "{"}, ("config-value", "loader_kwargs_json")),
        ({"load_path": "l.py"}, ("config-code", "load_path")),
        ({"type": "data_collector", "start_time": 1, "end_time": 2}, ("config-unsupported", None)),
        (
            {"file_name": "a.jsonl", "embeddings": [{"key": "v", "kee": 1}]},
            ("config-unknown-key", "embeddings[0].kee"),
        ),
    ],
)
def test_where_the_rows_of_a_side_are(
    side: dict[str, Any], fault: tuple[str, str | None], tmp_path: Path
) -> None:
    """The type of a side may be left out, since its keys tell it; the two may not disagree."""
    config = split()
    del side_of(config)["embeddings"]
    config["data_info"]["ref_data_info"] = side
    inside = "data_info.ref_data_info"
    code, key = fault
    assert (code, inside + (f".{key}" if key else "")) in faults(config, tmp_path)


def side_of(config: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = config["data_info"]["eval_data_info"]
    return found


@pytest.mark.parametrize(
    ("tests", "fault"),
    [
        ({"label_drift": {"severity_treshold": [1, 2]}}, ("config-unknown-key", True)),
        ({"label_drift": {"rum": False}}, ("config-unknown-key", True)),
        ({"label_drift": {"num_bins": 20}}, ("config-ignored", False)),
        ({"label_drift": {"run": "no"}}, ("config-type", True)),
        ({"label_drift": []}, ("config-type", True)),
        ({"label_drif": {}}, ("config-unknown-key", True)),
        ({"global_sample_size": 10}, ("config-ignored", False)),
        ({"categories": "Drift"}, ("config-type", True)),
        ({"categories": ["Drft"]}, ("config-value", True)),
        ({"run_default": "no"}, ("config-type", True)),
        ({"atc": {}, "estimated_accuracy": {}}, ("config-exclusive", True)),
        (
            {"better_than_constant": {"severity_thresholds": [0.0, 0.05]}},
            ("config-thresholds", True),
        ),
        (
            {"hop_skip_jump_attack": {"severity_thresholds": [0.1, 0.05, 0.01]}},
            ("config-unknown-test", False),
        ),
    ],
)
def test_settings_that_are_wrong_or_without_effect(
    tests: dict[str, Any], fault: tuple[str, bool], tmp_path: Path
) -> None:
    """What is ignored is said; what is misspelt is an error."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**plain(), "tests_config": tests}))
    problems = Problems()
    load(path, problems)
    assert [(p.code, p.severity == "error") for p in problems] == [fault]


def test_test_settings_in_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "tests.json").write_text('{"label_drift": {"severity_thresholds": [0.3, 0.1]}}')
    config = {**plain(), "tests_config": None, "tests_config_path": "tests.json"}
    assert faults(config, tmp_path) == [("config-thresholds", "label_drift.severity_thresholds")]
    config["tests_config_path"] = "absent.json"
    assert faults(config, tmp_path) == [("file-missing", None)]


def test_code_runs_only_where_it_is_allowed(tmp_path: Path) -> None:
    run = clean("text")
    rows = {side: run[f"{side}.jsonl"] for side in ("ref", "eval")}
    rows["eval"][2]["label"] = "x"
    code = "".join(f"def get_{side}_data():\n    return {rows[side]!r}\n" for side in rows)
    (tmp_path / "load.py").write_text(code, "utf-8")
    run["config.json"]["data_info"] = {"type": "custom", "load_path": "load.py"}
    path = write(run, tmp_path)
    problems = Problems()
    check_configuration(path, problems, allow_code=True)
    assert [(p.code, p.file, p.record) for p in problems] == [("label-type", "eval data", 2)]
    problems = Problems()
    assert check_configuration(path, problems) is None
    assert [p.code for p in problems] == ["config-code"]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"", "file-empty", None),
        (b"[]", "config-type", None),
        (b'{"a": 1\n"b": 2}', "json-syntax", 2),
        (b'{"a": NaN}', "nan-literal", None),
        (b'{"a": "\xe9"}', "encoding", None),
        (b'{"a": 1, "a": 2}', "duplicate-key", None),
        (b"{} {}", "json-syntax", 1),
    ],
)
def test_what_is_no_configuration(
    content: bytes, code: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(content)
    problems = Problems()
    assert load(path, problems) is None
    assert [(p.code, p.line, p.file) for p in problems] == [(code, line, "config.json")]
