"""Checkpoints are data: one that wants to run code is refused and nothing runs."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from karat.errors import UsageError
from karat.models.checkpoints import open_weights
from karat.models.loading import Settings, configuration


class Exploit:
    def __init__(self, target: Path) -> None:
        self.target = target

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.target),)


@pytest.mark.parametrize("zipped", [True, False])
def test_code_is_refused_and_not_run(tmp_path: Path, zipped: bool) -> None:
    victim = tmp_path / "victim"
    path = tmp_path / "evil.pth"
    state = {"model_state_dict": {}, "scaler": Exploit(victim)}
    torch.save(state, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(UsageError, match="refused"):
        open_weights(path)
    assert not victim.exists()
    pickle.loads(pickle.dumps(Exploit(victim)))
    assert victim.exists(), "the payload itself works"


@pytest.mark.parametrize("content", [b"", b"garbage", b"PK\x03\x04 torn"])
def test_what_is_no_checkpoint_is_said_to_be_none(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.pth"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        open_weights(path)


def test_safetensors_give_the_same_scores(
    tmp_path: Path,
    reference: Path,
    model: Callable[[str], str],
    examples: dict[str, Any],
    score: Callable[..., Any],
) -> None:
    path = reference / "models" / "nsp" / "tiny-gpt2_5e-06_0.001_1_FINAL.pth"
    weights = torch.load(path, weights_only=True)["model_state_dict"]
    # Newer libraries have no such buffers, older ones wrote them.
    assert any(key.endswith(".attn.bias") for key in weights)
    save_file({k: v.clone() for k, v in weights.items()}, tmp_path / "nsp.safetensors")
    chosen = examples["intersentence"][:6]
    settings = Settings(model("gpt2"))
    told = [
        score(settings, "intersentence", "ModelNSP", chosen, nsp=p)
        for p in (path, tmp_path / "nsp.safetensors")
    ]
    assert told[0] == told[1]


def test_a_checkpoint_of_another_model_is_refused(
    reference: Path, model: Callable[[str], str], examples: dict[str, Any], score: Any
) -> None:
    path = reference / "models" / "nsp" / "tiny-t5_5e-06_0.001_1_FINAL.pth"
    with pytest.raises(UsageError, match="does not fit"):
        score(
            Settings(model("gpt2")),
            "intersentence",
            "ModelNSP",
            examples["intersentence"],
            nsp=path,
        )


def test_code_in_a_model_folder_is_not_run(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    code = f"import os\nos.mkdir({str(victim)!r})\nclass C: ...\n"
    for name in ("configuration_x.py", "modeling_x.py"):
        (tmp_path / name).write_text(code)
    told = {"AutoConfig": "configuration_x.C", "AutoModelForCausalLM": "modeling_x.C"}
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "x", "auto_map": told}))
    with pytest.raises(UsageError, match="cannot load"):
        configuration(str(tmp_path))
    assert not victim.exists()
