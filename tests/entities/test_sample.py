"""The sample is what its script makes, and its weak slice is the weakest."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from karat import score

ROOT = Path(__file__).parents[2]
SAMPLE = ROOT / "src" / "karat" / "samples" / "entities"


def test_the_sample_is_what_the_script_makes(tmp_path: Path) -> None:
    home = ROOT / "tools" / "samples_entities.py"
    spec = importlib.util.spec_from_file_location("samples_entities", home)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.main(tmp_path)
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == sorted(path.name for path in SAMPLE.iterdir())
    for name in made:
        assert (tmp_path / name).read_bytes() == (SAMPLE / name).read_bytes(), name


def test_the_harbour_desk_is_the_weakest() -> None:
    files = [str(SAMPLE / f"{name}.jsonl") for name in ("gold", "predictions")]
    slices = score(*files, by="meta.desk", confidence=0.95).slices
    f1 = {one.level: next(s.value for s in one.scores if s.name == "f1_micro") for one in slices}
    assert min(f1, key=lambda level: f1[level] or 0) == "harbour"
