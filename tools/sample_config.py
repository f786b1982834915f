"""The run configuration of a sample, which ties its four files together."""

from __future__ import annotations

import json
from typing import Any


def configuration(name: str, task: str, profiling: dict[str, Any]) -> str:
    """The configuration of a sample as text; `profiling` is what is declared of its data."""
    whole = {
        "run_name": f"{name} sample",
        "model_task": task,
        "model_info": None,
        "data_info": {"ref_path": "ref.jsonl", "eval_path": "gold.jsonl"},
        "prediction_info": {
            "ref_path": "ref_predictions.jsonl",
            "eval_path": "predictions.jsonl",
            "n_samples": None,
        },
        "data_profiling_info": profiling,
        "random_seed": 42,
    }
    return json.dumps(whole, indent=2) + "\n"
