"""neleval's command line: its cases, and the mistakes of it that are not copied."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.compat.neleval.command import COMMANDS, main, parser

Write = Callable[[str, str], Path]
DATA = os.environ.get("KARAT_REFERENCE_DATA")
ROOT = Path(__file__).parents[2]


def run(capsysbinary: pytest.CaptureFixture[bytes], *arguments: object) -> tuple[int, str]:
    """Exit status and stdout of one command line."""
    try:
        status = main([str(a) for a in arguments])
    except SystemExit as left:
        status = int(left.code or 0)
    return status, capsysbinary.readouterr().out.decode()


@pytest.mark.slow
def test_every_case_of_the_official_script() -> None:
    """Recorded runs of neleval 3.1.1; those that show its mistakes are not among them."""
    if DATA is None:
        pytest.skip("KARAT_REFERENCE_DATA is not set")
    home = Path(DATA) / "linking"
    done = subprocess.run(
        [sys.executable, home / "run_cases.py", f"{sys.executable} -m karat.compat.neleval"],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert " 0 failed" in done.stdout


def test_help_lists_all_commands() -> None:
    text = parser().format_help()
    line = next(line for line in text.splitlines() if line.strip().startswith("{"))
    names = line.strip().strip("{}").split(",")
    assert len(names) == len(COMMANDS) == 17
    assert {"evaluate", "prepare-tac", "plot-systems"} <= set(names)


def test_no_command_prints_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert "evaluate" in capsys.readouterr().out


def test_errors_name_file_and_line(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    gold, system = write("g.tsv", "d 0 1 E"), write("s.tsv", "d 0 1 E\nd x 1 E")
    assert main(["evaluate", "-g", str(gold), str(system)]) == 2
    said = capsys.readouterr().err
    assert f"{system}:2: offset-not-integer" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["evaluate", "-m", "nothing", "-g", "g.tsv", "g.tsv"], 2),
        (["evaluate", "-g", "absent.tsv", "g.tsv"], 1),
        (["evaluate", "-m", "sets::nothing", "-g", "g.tsv", "g.tsv"], 1),
        (["evaluate", "-g", ".", "g.tsv"], 1),
        (["evaluate", "-g", "-", "-"], 2),
        (["significance", "-g", "g.tsv", "g.tsv"], 2),
        (["significance", "-n", "-1", "-g", "g.tsv", "g.tsv", "g.tsv"], 1),
        (["significance", "--bootstrap", "-g", "g.tsv", "g.tsv", "g.tsv"], 2),
        (["confidence", "-m", "muc", "-g", "g.tsv", "g.tsv"], 2),
        (["weights-for-hierarchy", "-d", "2", "{}"], 2),
        (["weights-for-hierarchy", '{"a": ["b"], "b": ["a"]}'], 2),
        (["nothing"], 2),
    ],
)
def test_exit_status(
    write: Write, monkeypatch, capsysbinary, arguments: list[str], status: int
) -> None:
    monkeypatch.chdir(write("g.tsv", "d 0 1 E").parent)
    assert run(capsysbinary, *arguments) == (status, "")


def test_hierarchy_credits_the_parent_of_the_right_type(capsysbinary) -> None:
    """The gold type is the more special one: rows are descendant, ancestor."""
    _, out = run(capsysbinary, "weights-for-hierarchy", '{"a": ["b"], "b": ["c"]}')
    assert out.splitlines() == ["b\ta\t0.500000", "c\ta\t0.250000", "c\tb\t0.500000"]


def test_the_span_comes_first_among_alternatives(write: Write, capsysbinary) -> None:
    gold = write("g.tsv", "D 0 1 E1 1.0 P E2 0.9 P")
    system = write("s.tsv", "D 0 1 E2 1.0 P\nD 5 6 E1 1.0 P")
    assert run(capsysbinary, "select-alternatives", "-g", gold, system) == (
        0,
        "D\t0\t1\tE2\t0.9\tP\n",
    )
    assert (
        run(capsysbinary, "select-alternatives", "-f", "*", "-g", gold, system)[1]
        == "D\t0\t1\tE2\t0.9\tP\n"
    )


def test_an_answer_that_is_no_alternative_falls_back(write: Write, capsysbinary) -> None:
    gold, system = write("g.tsv", "D 0 1 E1 1.0 P E2 0.9 P"), write("s.tsv", "D 0 1 E9\nD 4 5")
    assert (
        run(capsysbinary, "select-alternatives", "-g", gold, system)[1] == "D\t0\t1\tE1\t1.0\tP\n"
    )


def test_to_weak_ends_on_the_character(write: Write, capsysbinary) -> None:
    path = write("g.tsv", "d 3 5 E 1.0 P")
    assert run(capsysbinary, "to-weak", path)[1].splitlines() == [
        f"d\t{i}\t{i}\tE\t1.0\tP" for i in (3, 4, 5)
    ]


def test_rows_of_one_position_keep_the_order_of_the_file(write: Write, capsysbinary) -> None:
    path = write("g.tsv", "d 3 3 E\nc 1 1 E\nd 1 1 E")
    places = [line.split("\t")[:2] for line in run(capsysbinary, "to-weak", path)[1].splitlines()]
    assert places == [["d", "3"], ["c", "1"], ["d", "1"]]


def test_types_of_json_are_written_as_neleval_writes_them(write: Write, capsysbinary) -> None:
    """Recorded: a lone type is text, other members are JSON with spaces."""
    gold = write("g.tsv", 'd 0 1 E 1 {"type":"PER","x":1}\nd 2 3 E .1 {"type":"PER"}\nd 4 5 E 1 {}')
    out = run(capsysbinary, "select-alternatives", "-g", gold, write("s.tsv", ""))[1]
    assert [line.split("\t", 3)[3] for line in out.splitlines()] == [
        'E\t1.0\t{"type": "PER", "x": 1}', "E\t0.1\tPER", "E\t1.0\t",
    ]  # fmt: skip


def test_a_field_that_some_mention_lacks_is_refused(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = write("g.tsv", 'd 0 1 E 1 {"x":1}\nd 2 3\nd 4 5 E 1 PER')
    assert main(["evaluate", "-m", "sets::span+x", "-g", str(gold), str(gold)]) == 1
    assert f"{gold}:3: this mention has no field 'x'" in capsys.readouterr().err
    assert main(["evaluate", "-m", "sets::span+type", "-g", str(gold), str(gold)]) == 1
    assert f"{gold}:1: this mention has no field 'type'" in capsys.readouterr().err


def test_entity_ceaf_of_nothing_is_half_whole(write: Write, capsysbinary) -> None:
    """Recorded: without any cluster the numerators are whole, the denominators are not."""
    path = write("g.tsv", "d 0 1 E")
    name = "entity_ceaf:is_nil:span"
    _, out = run(capsysbinary, "evaluate", "-m", name, "-g", path, path)
    assert out.splitlines()[1] == f"0\t0.000\t0\t0.000\t0.000\t0.000\t0.000\t{name}"


def test_a_byte_order_mark_is_no_part_of_the_first_document(write: Write, capsysbinary) -> None:
    gold = write("g.tsv", "d 0 1 E")
    marked = write("s.tsv", "\ufeffd 0 1 E")
    _, out = run(capsysbinary, "evaluate", "-m", "strong_all_match", "-g", gold, marked)
    assert out.splitlines()[1].startswith("1\t0\t1\t0")


def test_percentiles_keep_their_columns(write: Write, capsysbinary) -> None:
    gold, system = write("g.tsv", "d 0 1 E\ne 0 1 F"), write("s.tsv", "d 0 1 E\ne 0 1 G")
    _, out = run(capsysbinary, "confidence", "-n", 50, "-p", "50,80", "-g", gold, system)
    assert out.splitlines()[0].split("\t")[2:] == ["80%(", "50%(", "score", ")50%", ")80%"]
    _, again = run(capsysbinary, "confidence", "-n", 50, "-p", "50,80", "-j", 4, "-g", gold, system)
    assert again == out
    _, found = run(capsysbinary, "confidence", "-f", "json", "-p", "90", "-g", gold, system)
    one = json.loads(found)[0]
    assert set(one["intervals"]) == set(one["overall"])


def test_randomisation_is_one_sided_and_exact_at_its_ends(write: Write, capsysbinary) -> None:
    """Ten documents, all in favour of the first: only swapping none of them goes as far."""
    rows = [f"d{i} 0 1 E" for i in range(10)]
    gold, good = write("g.tsv", "\n".join(rows)), write("a.tsv", "\n".join(rows))
    bad = write("b.tsv", "\n".join(row.replace("E", "F") for row in rows))
    _, out = run(capsysbinary, "significance", "-f", "json", "-g", gold, good, bad)
    stats = json.loads(out)[0]["stats"]["recall"]
    assert stats["diff"] == 1
    assert 1 / 2501 <= stats["p"] < 0.006  # 2 ** -10 is 0.001
    _, out = run(capsysbinary, "significance", "-f", "json", "-g", gold, good, good)
    assert json.loads(out)[0]["stats"]["recall"] == {"diff": 0, "p": 1}


def test_every_pair_of_crossing_spans_is_named(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("g.tsv", "d 0 5 E\nd 5 9 E\nd 8 12 E\nd 20 21 E\nd 21 21 F")
    assert main(["validate-spans", str(path)]) == 0
    said = capsys.readouterr().err.splitlines()
    assert [line.split(": ")[0] for line in said] == [f"WARNING {path}:2", f"WARNING {path}:3"]
    assert main(["validate-spans", "--nested", "error", str(path)]) == 1


def test_spans_are_not_looked_at_where_nothing_is_asked(write: Write) -> None:
    path = str(write("g.tsv", "d 5 1 E"))
    assert main(["validate-spans", path]) == 1
    ignored = ("--nested", "ignore", "--crossing", "ignore", "--duplicate", "ignore")
    assert main(["validate-spans", *ignored, path]) == 0


EVALUATION = (
    "ptp\tfp\trtp\tfn\tprecis\trecall\tfscore\tmeasure\n{0}\t1\t{0}\t1\t{1}\t{1}\t{1}\tmuc\n"
)


def test_ranks_stand_under_their_names(tmp_path: Path, capsysbinary, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, score in (("a1", 0.9), ("a2", 0.5), ("b1", 0.7)):
        Path(f"{name}.ev").write_text(EVALUATION.format(9, score))
    _, out = run(
        capsysbinary, "rank-systems", "--group-re", "^.", "a1.ev", "a2.ev", "b1.ev", "--short-names"
    )
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0] == ["measure", "metric", "rank", "group rank", "score", "group", "system"]
    assert [row[2:] for row in rows[1:]] == [
        ["1", "1", "0.9", "a", "a1"], ["2", "1", "0.7", "b", "b1"], ["3", "2", "0.5", "a", "a2"],
    ]  # fmt: skip
    _, out = run(capsysbinary, "rank-systems", "--short-names", "a1.ev")
    assert out.splitlines()[1].endswith("\ta1.ev")


def test_a_compressed_evaluation_stays_one(tmp_path: Path, capsysbinary) -> None:
    path = tmp_path / "x.ev.gz"
    path.write_bytes(gzip.compress(EVALUATION.format(9, 0.9).encode()))
    assert run(capsysbinary, "compose-measures", "-r", "muc", "muc", path) == (0, "")
    rows = gzip.decompress(path.read_bytes()).decode().splitlines()
    assert rows[2].split("\t")[-1] == "muc/muc"


def test_composing_replaces_its_row(tmp_path: Path, capsysbinary) -> None:
    path = tmp_path / "x.ev"
    path.write_text(
        EVALUATION.format(9, 0.9)
        + EVALUATION.format(3, 0.3).splitlines()[1].replace("muc", "b")
        + "\n"
    )
    for _ in range(2):
        assert run(capsysbinary, "compose-measures", "-r", "muc", "b", path) == (0, "")
    lines = path.read_text().splitlines()
    assert len(lines) == 4
    assert lines[3].split("\t") == [
        "3.000",
        "1.000",
        "3.000",
        "1.000",
        "3.000",
        "3.000",
        "3.000",
        "muc/b",
    ]


def test_measures_are_compared_on_python_3(tmp_path: Path, capsysbinary) -> None:
    for i, (a, b) in enumerate([(0.1, 0.9), (0.2, 0.8), (0.4, 0.6)]):
        text = (
            EVALUATION.format(1, a)
            + EVALUATION.format(1, b).splitlines()[1].replace("muc", "b")
            + "\n"
        )
        (tmp_path / f"{i}.ev").write_text(text)
    paths = [tmp_path / f"{i}.ev" for i in range(3)]
    _, out = run(capsysbinary, "compare-measures", "-m", "muc", "-m", "b", "-e", *paths)
    cells = [cell.strip() for cell in out.splitlines()[1].split("\t")]
    # b = 1 - a, so every correlation is -1; medians are 0.2 and 0.8; ranges are equal.
    assert cells == ["muc", "b", "-1.000", "-1.000", "-1.000", "-0.600", "1.000"]
    _, out = run(
        capsysbinary, "compare-measures", "-f", "json", "-m", "muc", "-m", "b", "-e", *paths
    )
    assert json.loads(out)[0]["pearson-r"] == pytest.approx(-1)
