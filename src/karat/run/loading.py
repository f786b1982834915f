"""Rows that a run configuration wants loaded by code or from a data set on disk."""

from __future__ import annotations

import json
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from karat.errors import DataError
from karat.model.problem import Problem


def load_rows(loader: Mapping[str, Any], folder: Path) -> Any:
    """What the loader gives: a data frame or a list of dicts. DataError where it cannot."""
    return _custom(loader, folder) if loader["kind"] == "custom" else _huggingface(loader, folder)


def _custom(loader: Mapping[str, Any], folder: Path) -> Any:
    """The result of a function in a Python file; only called where the user allowed it."""
    path = folder / loader["load_path"]
    arguments = loader.get("loader_kwargs") or json.loads(loader.get("loader_kwargs_json") or "{}")
    name = loader.get("load_func_name") or f"get_{loader['side']}_data"
    try:
        return runpy.run_path(str(path))[name](**arguments)
    except Exception as error:
        text = f"{name}() of {loader['load_path']} failed: {type(error).__name__}: {error}"
        raise _fault(loader, text) from error


def _huggingface(loader: Mapping[str, Any], folder: Path) -> Any:
    """The rows of a data set that was saved to disk; nothing is downloaded."""
    try:
        from datasets import load_from_disk  # type: ignore[import-not-found]
    except ImportError:
        text = "reading a saved data set needs the datasets library; or export it to JSON lines"
        raise _fault(loader, text) from None
    uri, split = loader["dataset_uri"], loader["split"]
    path = folder / uri
    if not path.is_dir():
        text = f"no data set saved in the folder {uri}; nothing is downloaded"
        raise _fault(loader, text)
    keys = {
        loader.get("text_key") or "text": "text",
        loader.get("text_pair_key") or "text_pair": "text_pair",
        loader.get("label_key") or "label": "label",
    }
    try:
        rows = load_from_disk(str(path))[split]
        return [{keys.get(k, k): v for k, v in row.items()} for row in rows]
    except (OSError, KeyError, ValueError) as error:
        raise _fault(loader, f"cannot read split {split!r} of {uri}: {error}") from error


def _fault(loader: Mapping[str, Any], text: str) -> DataError:
    return DataError([Problem("config-unsupported", "error", text, loader["name"])])
