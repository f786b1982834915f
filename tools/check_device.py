"""What tests/models checks on a processor, checked on an accelerator.

    python tools/check_device.py REFERENCE INTRASENTENCE INTERSENTENCE [--device cuda]

REFERENCE is the folder of tiny models with the original code's scores; the data are its examples as
JSON lines. Needs torch and transformers alone. Exit status 1 where anything is off.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests")]

import torch  # noqa: E402
from models.original import (  # noqa: E402
    FOLDERS,
    PATHS,
    cases_of,
    checkpoint,
    expected,
    tolerance,
)

from karat.models.examples import Example, from_rows  # noqa: E402
from karat.models.loading import Settings  # noqa: E402
from karat.models.paths import make  # noqa: E402
from karat.models.running import Pace, rows_of  # noqa: E402

Scores = dict[str, list[float | None]]


def scored(
    settings: Settings, section: str, path: str, examples: list[Example], pace: Pace,
    cases: tuple[str, ...] = ("d",), nsp: Path | None = None,
) -> tuple[Scores, list[str]]:  # fmt: skip
    """(scores by case, what the run had to say)."""
    made, identity, _ = make(settings, section, path, examples, cases, nsp)
    rows, notes = rows_of(made.work, identity, settings, pace, None, path)
    assert rows is not None
    return made.scores(rows), notes


def against_original(reference: Path, data: dict[str, list[Example]], device: str) -> int:
    """How many paths miss the original's scores, over types and batch sizes."""
    missed = 0
    for section, short, path in PATHS:
        cases = cases_of(section, path)
        ids = [c.id for e in data[section] for c in e.candidates]
        for dtype in ("fp64", "fp32"):
            settings = Settings(str(reference / "models" / FOLDERS[short]), device, dtype)
            for size in (1, 7, None):
                found, _ = scored(
                    settings, section, path, data[section], Pace(size),
                    cases if cases[0] else ("d",), checkpoint(reference, short, path),
                )  # fmt: skip
                worst = 0.0
                for case in cases:
                    wanted = expected(reference, dtype, section, short, path, case)
                    for one, value in zip(ids, found[case], strict=True):
                        assert value is not None
                        worst = max(worst, abs(value / wanted[one] - 1))
                # T5's norms and attention are fp32 inside the library, whatever the rest is,
                # and another device rounds them otherwise.
                held_to = "fp32" if "t5" in short and device != "cpu" else dtype
                bound = tolerance(held_to, short, section, path)
                good = worst <= bound
                missed += not good
                print(
                    f"{section:13} {short:5} {path:16} {dtype} batch {size or 'auto':>4}: "
                    f"{worst:.1e} of {bound:.0e} {'ok' if good else 'MISSED'}"
                )
    return missed


def when_memory_runs_out(reference: Path, data: dict[str, list[Example]], device: str) -> int:
    """1 if a run with little memory gives other scores than one with plenty."""
    settings = Settings(str(reference / "models" / FOLDERS["gpt2"]), device)
    section, many = "intersentence", data["intersentence"] * 40
    # Equal inputs are computed once, so the copies are made different.
    many = [e._replace(context=f"{i} {e.context}") for i, e in enumerate(many)]
    plenty, _ = scored(settings, section, "GPT2LM", many, Pace())
    torch.cuda.empty_cache()
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(3e8 / total)
    little, notes = scored(settings, section, "GPT2LM", many, Pace(budget=1 << 22))
    torch.cuda.set_per_process_memory_fraction(1.0)
    pairs = zip(plenty["d"], little["d"], strict=True)
    worst = max(abs(a / b - 1) for a, b in pairs if a and b)
    good = worst < 2e-5 and any("memory ran out" in note for note in notes)
    print(f"memory runs out: {notes}, largest difference {worst:.1e} {'ok' if good else 'MISSED'}")
    return int(not good)


def main() -> int:
    """The exit status."""
    flags = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    flags.add_argument("reference", type=Path)
    flags.add_argument("intrasentence", type=Path)
    flags.add_argument("intersentence", type=Path)
    flags.add_argument("--device", default="cuda")
    given = flags.parse_args()
    data = {}
    for section in ("intrasentence", "intersentence"):
        lines = getattr(given, section).read_text(encoding="utf-8").splitlines()
        data[section] = from_rows(map(json.loads, lines))
    missed = against_original(given.reference, data, given.device)
    if given.device.startswith("cuda"):
        missed += when_memory_runs_out(given.reference, data, given.device)
    print(f"{missed} missed")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
