"""The shape of a run configuration: its keys, their types, and which exclude each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from karat.read.place import Place, printable, show
from karat.suite.limits import ALIASES, GLOBAL, LIMITS, foreign

TASKS = (
    "Text Classification",
    "Natural Language Inference",
    "Named Entity Recognition",
    "Image Classification",
    "Object Detection",
)

Keys = Mapping[str, str]
"""Key -> its type; "?" behind it allows null."""

TOP: Keys = {
    "run_name": "text",
    "model_task": "text",
    "data_info": "object",
    "model_info": "object?",
    "data_profiling_info": "object?",
    "prediction_info": "object?",
    "tests_config": "object?",
    "tests_config_path": "text?",
    "random_seed": "integer?",
    "silent_errors": "boolean?",
    "workspace_name": "text?",
    "continuous_info": "object?",
    "perturbation_info": "object?",
}
REQUIRED = ("model_task", "data_info")

PLAIN: Keys = {
    "type": "text?",
    "ref_path": "text",
    "eval_path": "text",
    "embeddings": "embeddings?",
    "load_path": "text?",
}
CUSTOM: Keys = {
    "type": "text",
    "load_path": "text",
    "loader_kwargs": "object?",
    "loader_kwargs_json": "text?",
    "embeddings": "embeddings?",
}
HUGGINGFACE: Keys = {
    "type": "text",
    "dataset_uri": "text",
    "ref_split": "text?",
    "eval_split": "text?",
    "text_key": "text?",
    "text_pair_key": "text?",
    "label_key": "text?",
    "eval_label_key": "text?",
    "loading_params": "object?",
    "embeddings": "embeddings?",
}
SPLIT: Keys = {"type": "text?", "ref_data_info": "object", "eval_data_info": "object"}
SINGLE: Keys = {
    "type": "text?",
    "file_name": "text?",
    "load_path": "text?",
    "load_func_name": "text?",
    "loader_kwargs": "object?",
    "loader_kwargs_json": "text?",
    "start_time": "number?",
    "end_time": "number?",
    "dataset_uri": "text?",
    "split_name": "text?",
    "text_key": "text?",
    "text_pair_key": "text?",
    "label_key": "text?",
    "loading_params": "object?",
    "prediction_info": "object?",
    "embeddings": "embeddings?",
}
PROFILE: Keys = {
    "class_names": "texts?",
    "ngram_filter_stop_words": "boolean?",
    "ngram_filter_punctuation": "boolean?",
    "custom_numeric_metadata": "texts?",
    "custom_categorical_metadata": "texts?",
}
PREDICTIONS: Keys = {"ref_path": "text?", "eval_path": "text?", "n_samples": "integer?"}
PERTURBATION: Keys = {"eval_path": "text?", "predictions_path": "text"}
ONE_PREDICTION: Keys = {"path": "text?", "n_samples": "integer?"}

NAMES = {
    "text": "a string",
    "object": "an object",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "texts": "a list of strings",
    "embeddings": 'a list of objects {"key": ...}',
}

DESCENDING = "hop"
"""In the names of tests where a smaller distance is worse (HopSkipJump)."""


def check_configuration(content: Mapping[str, Any], place: Place) -> None:
    """Report everything that is wrong with the keys and types of a configuration."""
    check_keys(content, TOP, "", place, REQUIRED)
    if content.get("tests_config") is not None and content.get("tests_config_path") is not None:
        message = "give tests_config or tests_config_path, not both"
        place.add("config-exclusive", message, "tests_config")
    profile = content.get("data_profiling_info")
    if isinstance(profile, dict):
        check_keys(profile, PROFILE, "data_profiling_info", place)
    perturbed = content.get("perturbation_info")
    if isinstance(perturbed, dict):
        check_keys(perturbed, PERTURBATION, "perturbation_info", place, ("predictions_path",))
    info, predictions = content.get("data_info"), content.get("prediction_info")
    if isinstance(predictions, dict):
        check_keys(predictions, PREDICTIONS, "prediction_info", place)
        _check_samples(predictions, ("ref_path", "eval_path"), "prediction_info", place)
    if isinstance(info, dict):
        _check_data(info, predictions is not None, place)
    if content.get("model_info") is not None:
        message = "the model is not run; predictions are read from files"
        place.add("config-model", message, "model_info", severity="note")


def check_keys(
    found: Mapping[str, Any],
    keys: Keys,
    inside: str,
    place: Place,
    required: Iterable[str] = (),
) -> None:
    """Report unknown keys, missing ones and values of another type."""
    for key in required:
        if key not in found:
            path = _path(inside, key)
            place.add("config-missing-key", f"required key '{path}' is missing", path)
    for key, value in found.items():
        path = printable(_path(inside, key))
        if key not in keys:
            message = f"unknown key '{printable(key)}'"
            close = get_close_matches(key, keys, n=1, cutoff=0.6)
            message += f"; did you mean '{close[0]}'?" if close else ""
            place.add("config-unknown-key", message, path)
            continue
        _check_type(value, keys[key], path, place)


def check_tests(tests: Mapping[str, Any], inside: str, place: Place) -> None:
    """Report test settings whose thresholds cannot be used."""
    for name, setting in tests.items():
        if not isinstance(setting, dict):
            continue
        path = _path(_path(inside, name), "severity_thresholds")
        thresholds = setting.get("severity_thresholds")
        if "run" in setting:
            _check_type(setting["run"], "boolean?", _path(_path(inside, name), "run"), place)
        if thresholds is None:
            continue
        if not isinstance(thresholds, list) or len(thresholds) not in (2, 3):
            message = f"{show(thresholds)} is not a list of 2 or 3 numbers"
            place.add("config-thresholds", message, path)
        elif not all(_is(t, "number") or t is None for t in thresholds):
            message = f"{show(thresholds)} holds something that is no number"
            place.add("config-thresholds", message, path)
        elif DESCENDING not in name.lower():
            given = [t for t in thresholds if t is not None]
            if any(b < a for a, b in pairwise(given)):
                place.add("config-thresholds", "thresholds must ascend", path)


def check_names(tests: Mapping[str, Any], inside: str, place: Place) -> None:
    """Report settings for tests that do not exist: misspelt ones are errors, others are ignored."""
    known = (*LIMITS, *ALIASES, *GLOBAL)
    for name in foreign(tests):
        path = printable(_path(inside, name))
        close = get_close_matches(name, known, n=1, cutoff=0.8)
        if close:
            message = f"unknown key '{printable(name)}'; did you mean '{close[0]}'?"
            place.add("config-unknown-key", message, path)
        else:
            message = f"there is no test {show(name)}; its settings are ignored"
            place.add("config-unknown-test", message, path, severity="warning")
    for name, setting in tests.items():
        if name in (*LIMITS, *ALIASES) and setting is not None and not isinstance(setting, dict):
            place.add("config-type", f"{show(setting)} is not an object", _path(inside, name))


def near(name: str, known: Iterable[str]) -> str:
    """A hint at the closest of the known names."""
    close = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f"did you mean {show(close[0])}?" if close else ""


def _check_data(info: Mapping[str, Any], predictions: bool, place: Place) -> None:
    kind = info.get("type")
    if kind not in (None, "custom", "huggingface", "split") and isinstance(kind, str):
        message = f"{show(kind)} is not one of custom, huggingface, split"
        place.add("config-value", message, "data_info.type")
        return
    if kind == "custom":
        check_keys(info, CUSTOM, "data_info", place, ("load_path",))
        _exclude_loader(info, "data_info", place)
    elif kind == "huggingface":
        check_keys(info, HUGGINGFACE, "data_info", place, ("dataset_uri",))
    elif kind == "split" or "ref_data_info" in info or "eval_data_info" in info:
        check_keys(info, SPLIT, "data_info", place, ("ref_data_info", "eval_data_info"))
        for side in ("ref_data_info", "eval_data_info"):
            if isinstance(info.get(side), dict):
                _check_single(info[side], f"data_info.{side}", predictions, place)
    else:
        check_keys(info, PLAIN, "data_info", place, ("ref_path", "eval_path"))


def _check_single(info: Mapping[str, Any], inside: str, predictions: bool, place: Place) -> None:
    """One side of a split configuration."""
    check_keys(info, SINGLE, inside, place)
    _exclude_loader(info, inside, place)
    own = info.get("prediction_info")
    if isinstance(own, dict):
        check_keys(own, ONE_PREDICTION, f"{inside}.prediction_info", place)
        _check_samples(own, ("path",), f"{inside}.prediction_info", place)
        if predictions:
            message = "give prediction_info at the top or inside each side, not both"
            place.add("config-exclusive", message, "prediction_info")
    ways = [k for k in ("file_name", "load_path", "dataset_uri", "start_time") if info.get(k)]
    if len(ways) > 1:
        place.add("config-exclusive", f"give {' or '.join(ways)}, not both", inside)
    elif not ways:
        path = f"{inside}.file_name"
        place.add("config-missing-key", f"required key '{path}' is missing", path)


def _exclude_loader(info: Mapping[str, Any], inside: str, place: Place) -> None:
    if info.get("loader_kwargs") is not None and info.get("loader_kwargs_json") is not None:
        message = "give loader_kwargs or loader_kwargs_json, not both"
        place.add("config-exclusive", message, f"{inside}.loader_kwargs")


def _check_samples(
    predictions: Mapping[str, Any], paths: Iterable[str], inside: str, place: Place
) -> None:
    given = [predictions.get(path) for path in paths]
    if predictions.get("n_samples") is not None and None not in given:
        files = "both prediction files are" if len(given) > 1 else "a prediction file is"
        message = f"n_samples must be null when {files} given"
        place.add("config-exclusive", message, f"{inside}.n_samples")


def _check_type(value: Any, type_: str, path: str, place: Place) -> None:
    wanted = type_.removesuffix("?")
    if (value is None and type_ != wanted) or _is(value, wanted):
        return
    place.add("config-type", f"{show(value)} is not {NAMES[wanted]}", path)


def _is(value: Any, wanted: str) -> bool:
    if wanted == "text":
        return isinstance(value, str)
    if wanted == "object":
        return isinstance(value, dict)
    if wanted == "boolean":
        return isinstance(value, bool)
    if wanted in ("integer", "number"):
        types = int if wanted == "integer" else (int, float)
        return isinstance(value, types) and not isinstance(value, bool)
    if not isinstance(value, list):
        return False
    if wanted == "texts":
        return all(isinstance(item, str) for item in value)
    return all(isinstance(item, dict) and isinstance(item.get("key"), str) for item in value)


def _path(inside: str, key: str) -> str:
    return f"{inside}.{key}" if inside else key
