"""Scores kept by model, in JSON files and workbooks; the documented command line; pictures."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import openpyxl
import pytest

from karat import UsageError, compare, score
from karat.compat import stereoset_evaluation
from karat.tasks.stereotypes import results
from karat.tasks.stereotypes.plot import picture

NUMBERS: results.Nested = {"intrasentence": {"race": {"SS Score": 60.5, "LM Score": 80.0}}}


def test_a_json_file_keeps_the_other_models(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text('{"old": {"a": 1}}', "utf-8")
    assert results.add(str(path), "new", NUMBERS, replace=True).startswith("added")
    assert results.add(str(path), "new", NUMBERS, replace=True).startswith("replaced")
    assert json.loads(path.read_text("utf-8")) == {"old": {"a": 1}, "new": NUMBERS}
    assert [p.name for p in tmp_path.iterdir()] == ["scores.json"]


@pytest.mark.parametrize("name", ["broken.json", "broken.xlsx"])
def test_a_broken_file_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"not this")
    with pytest.raises(UsageError, match="left as it is"):
        results.add(str(path), "m", NUMBERS, replace=True)
    assert path.read_bytes() == b"not this"
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_an_empty_workbook_is_as_good_as_none(tmp_path: Path) -> None:
    """The original leaves one behind when it fails, and dies of it the next time."""
    path = tmp_path / "scores.xlsx"
    path.write_bytes(b"")
    results.add(str(path), "m", NUMBERS, replace=False)
    assert openpyxl.load_workbook(path).sheetnames == ["intrasentence", "intersentence", "overall"]


def cells(path: Path) -> list[tuple[Any, ...]]:
    return list(openpyxl.load_workbook(path)["intrasentence"].iter_rows(values_only=True))


def test_workbook_rows_are_appended_or_replaced(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    for replace in (False, False, True):
        results.add(str(path), "m", NUMBERS, replace=replace)
    results.add(str(path), "other", NUMBERS, replace=True)
    header, *lines = cells(path)
    assert header == ("model_name", "SS Score_race", "LM Score_race")
    assert lines == [("m", 60.5, 80), ("m", 60.5, 80), ("other", 60.5, 80)]


def test_a_model_name_never_starts_a_formula(tmp_path: Path) -> None:
    path = tmp_path / "scores.xlsx"
    results.add(str(path), "=1+1", NUMBERS, replace=True)
    cell = openpyxl.load_workbook(path)["intrasentence"]["A2"]
    assert (cell.data_type, cell.value) == ("s", "=1+1")


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such format"):
        results.add(str(tmp_path / "scores.ods"), "m", NUMBERS, replace=True)


def test_writers_wait_for_each_other(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    with ThreadPoolExecutor(8) as pool:
        names = [f"m{i}" for i in range(40)]
        list(pool.map(lambda name: results.add(str(path), name, NUMBERS, replace=True), names))
    assert set(json.loads(path.read_text("utf-8"))) == set(names)


def test_the_documented_command_line(reference: Path, tmp_path: Path, capsys: Any) -> None:
    name = "gpt2__GPT2LM_orig_en"
    words = [
        "--predictions-file", str(reference / "predictions" / f"{name}.json"),
        "--intersentence-df-file", str(reference / "intersentence" / "df_intersentence_en.pkl"),
        "--skip-intrasentence",
        "--output-file", str(tmp_path / "all.json"),
    ]  # fmt: skip
    assert stereoset_evaluation.main(words) == 0
    expected = json.loads((reference / "expected.json").read_text("utf-8"))[f"{name}.json"]
    assert json.loads((tmp_path / "all.json").read_text("utf-8")) == {name: expected}
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["intersentence", "\tgender"]
    assert f"\t\tLM Score: {expected['intersentence']['gender']['LM Score']}" in lines


def test_the_command_line_fails_as_it_should(tmp_path: Path) -> None:
    run = [sys.executable, "-m", "karat.compat.stereoset_evaluation"]
    done = subprocess.run([*run, "--predictions", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    words = [
        "--predictions",
        "none.json",
        "--intrasentence-df-file",
        "no.pkl",
        "--skip-intersentence",
    ]
    done = subprocess.run([*run, *words], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "file-missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_options_write_their_files(make: Any, tmp_path: Path) -> None:
    said: list[str] = []
    gold, predictions = make([("race", "a", 2.0, 1.0, 0.0), ("gender", "b", 1.0, 2.0, 0.0)])
    kept, drawn = tmp_path / "kept.json", tmp_path / "drawn.svg"
    for _ in range(2):
        score(gold, predictions, output_file=str(kept), plot=str(drawn), say=said.append)
    assert json.loads(kept.read_text("utf-8"))["model"]["intrasentence"]["race"]["SS Score"] == 100
    assert sum(text.startswith("replaced model") for text in said) == 1
    ET.fromstring(drawn.read_text("utf-8"))


def test_the_picture_shows_every_dot() -> None:
    """Values outside 30 to 70 vanish in the original's picture."""
    told = {"race": {"SS Score": 97.0}, "overall": {"SS Score": 97.0, "LM Score": 60.0}}
    root = ET.fromstring(picture({"<a>": {"overall": told}, "b": {"overall": told}}))
    width = float(root.attrib["width"])
    dots = [e for e in root.iter() if e.tag.endswith("circle")]
    assert len(dots) == 1 + 2 + 2
    assert all(0 < float(dot.attrib["cx"]) < width for dot in dots)


def test_entries_of_another_shape_are_not_drawn(make: Any, tmp_path: Path) -> None:
    kept = tmp_path / "all.json"
    odd = {"a": 5, "b": {"overall": 3}, "c": {"overall": {"overall": {"SS Score": "x"}}}}
    part = {"overall": {"race": {"SS Score": 40.0}}}
    kept.write_text(json.dumps({**odd, "part": part}), "utf-8")
    assert results.models(str(kept)) == {"part": part}
    files = {"output_file": str(kept), "plot": str(tmp_path / "all.svg")}
    score(*make([("race", "t", 2.0, 1.0, 0.0)]), **files)
    drawn = (tmp_path / "all.svg").read_text("utf-8")
    ET.fromstring(drawn)
    assert "part, race: 40.00" in drawn
    assert json.loads(kept.read_text("utf-8"))["a"] == 5


def test_all_compared_models_are_kept_and_drawn(make: Any, tmp_path: Path) -> None:
    gold, first = make([("race", "t", 2.0, 1.0, 0.0), ("race", "u", 1.0, 2.0, 0.0)])
    second = tmp_path / "other.json"
    second.write_text(first.read_text("utf-8").replace("2.0", "0.5", 1), "utf-8")
    files = {"output_file": str(tmp_path / "all.json"), "plot": str(tmp_path / "all.svg")}
    compare(gold, first, second, trials=100, **files)
    found = results.models(files["output_file"])
    assert [found[name]["intrasentence"]["overall"]["SS Score"] for name in found] == [50.0, 0.0]
    assert list(found) == ["model", "other"]
    drawn = Path(files["plot"]).read_text("utf-8")
    assert "model, race: 50.00" in drawn
    assert "other, race: 0.00" in drawn


@pytest.mark.parametrize("option", ["output_file", "plot"])
def test_what_is_read_is_not_written_over(make: Any, option: str) -> None:
    gold, predictions = make([("race", "t", 2.0, 1.0, 0.0)])
    before = predictions.read_bytes()
    with pytest.raises(UsageError, match="is one of the inputs"):
        score(gold, predictions, **{option: str(predictions)})
    assert predictions.read_bytes() == before


def test_a_link_is_followed(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    link, behind = tmp_path / "scores.json", tmp_path / "far" / "scores.json"
    link.symlink_to(behind)
    results.add(str(link), "m", NUMBERS, replace=True)
    assert link.is_symlink()
    assert json.loads(behind.read_text("utf-8")) == {"m": NUMBERS}
