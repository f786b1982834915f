"""`score.py` as a process: its output, its exit status, and what it does not load."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from making import dataset, question, written
from reference import official20

from karat.compat import squad, squad11

ROOT = Path(__file__).parents[2]
GOLD = dataset([question("q1", "Paris"), question("q2"), question("q3", "the big cat")])
SAID = {"q1": "paris", "q2": "no", "q3": "cat"}
CHANCES = {"q3": 0.1, "q1": 0.25, "q2": 0.75}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "score.py"), *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    return [written(tmp_path, "gold.json", GOLD), written(tmp_path, "said.json", SAID)]


def test_output_is_the_script_s(files: list[str], tmp_path: Path) -> None:
    done = run(*files)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == json.dumps(official20(GOLD, SAID), indent=2) + "\n"


def test_out_file_gets_one_line_and_the_console_all(files: list[str], tmp_path: Path) -> None:
    out = tmp_path / "eval.json"
    chances = written(tmp_path, "na.json", CHANCES)
    done = run(*files, "-o", str(out), "-n", chances, "-t", "0.5", "--verbose")
    expected = official20(GOLD, SAID, CHANCES, 0.5)
    assert done.stdout == json.dumps(expected, indent=2) + "\n"
    assert out.read_text("utf-8") == json.dumps(expected)


def test_no_argument_prints_help() -> None:
    done = run()
    assert done.returncode == 1
    assert "pred.json" in done.stdout
    assert done.stderr == ""


def test_missing_predictions_score_nothing(tmp_path: Path) -> None:
    names = written(tmp_path, "g.json", GOLD), written(tmp_path, "p.json", {"q1": "x"})
    done = run(*names)
    assert (done.returncode, done.stdout) == (1, "")
    assert "no prediction for 2 of 3 questions: q2, q3" in done.stderr
    assert run(*names, "--missing", "zero").returncode == 0


def test_a_missing_file_is_one_line(files: list[str]) -> None:
    done = run(files[0], "nowhere.json")
    assert (done.returncode, done.stdout) == (1, "")
    assert "nowhere.json" in done.stderr
    assert "Traceback" not in done.stderr


def test_compressed_files_are_read(tmp_path: Path, files: list[str]) -> None:
    packed = tmp_path / "said.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(SAID).encode()))
    assert run(files[0], str(packed)).stdout == run(*files).stdout != ""
    packed.write_bytes(packed.read_bytes()[:30])
    done = run(files[0], str(packed))
    assert (done.returncode, done.stdout) == (1, "")
    assert "gzip-damaged" in done.stderr


def test_an_output_that_cannot_be_written_is_named(files: list[str], tmp_path: Path) -> None:
    out = str(tmp_path / "nowhere" / "eval.json")
    done = run(*files, "-o", out)
    assert (done.returncode, done.stderr) == (1, f"error: {out}: No such file or directory\n")


def test_version_1_looks_at_the_answers_of_predicted_questions_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = written(tmp_path, "g.json", dataset([question("q1", "x"), question("q2")], "1.1"))
    assert squad11.main([gold, written(tmp_path, "p.json", {"q1": "x"})]) == 0
    assert capsys.readouterr().out == '{"exact_match": 50.0, "f1": 50.0}\n'
    assert squad11.main([gold, written(tmp_path, "p.json", {"q1": "x", "q2": ""})]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "no gold answer for 1 of 2 questions: q2" in said.err


def test_ids_cannot_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = written(tmp_path, "g.json", dataset([question("q\x1b[2J\n", "x")], "1.1"))
    assert squad11.main([gold, written(tmp_path, "p.json", {})]) == 0
    said = capsys.readouterr().err
    assert said == "Unanswered question q\\x1b[2J\\n will receive score 0.\n"


def test_nothing_heavy_is_loaded(files: list[str]) -> None:
    code = (
        "import sys; from karat.compat import squad; squad.main(sys.argv[1:]); "
        "print(sorted({'numpy', 'click', 'scipy', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *files], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.endswith("[]\n")


def test_repeated_keys_count_as_in_the_script(tmp_path: Path) -> None:
    gold = written(tmp_path, "g.json", GOLD)
    said = written(tmp_path, "p.json", '{"q1": "x", "q2": "", "q3": "cat", "q1": "Paris"}')
    done = run(gold, said)
    assert json.loads(done.stdout) == official20(GOLD, {**SAID, "q1": "Paris", "q2": ""})
    assert "duplicate-key" in done.stderr


def test_five_pictures(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib", reason="the plot extra is not installed")
    chances = written(tmp_path, "na.json", CHANCES)
    assert squad.main([*files, "-n", chances, "-p", str(tmp_path / "out" / "img")]) == 0
    expected = official20(GOLD, SAID, CHANCES, curves=True)
    assert capsys.readouterr().out == json.dumps(expected, indent=2) + "\n"
    made = sorted(path.name for path in (tmp_path / "out" / "img").iterdir())
    assert made == [
        "na_prob_hist_hasAns.png",
        "na_prob_hist_noAns.png",
        "pr_exact.png",
        "pr_f1.png",
        "pr_oracle.png",
    ]


def test_pictures_need_the_extra(
    files: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    chances = written(tmp_path, "na.json", CHANCES)
    assert squad.main([*files, "-n", chances, "-p", str(tmp_path / "img")]) == 1
    assert "karat[plot]" in capsys.readouterr().err
