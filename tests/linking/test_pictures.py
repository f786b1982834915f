"""plot-systems and the pictures of compare-measures: which figures there are, what they hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from karat.compat.neleval.command import main

pytest.importorskip("matplotlib", reason="pictures need the extra `plot`")

HEADER = "ptp\tfp\trtp\tfn\tprecis\trecall\tfscore\tmeasure"
SCORES = {"teamA.one": (0.2, 0.9), "teamA.two": (0.4, 0.7), "teamB.one": (0.6, 0.5)}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Tables of evaluate with two measures."""
    monkeypatch.chdir(tmp_path)
    for name, (muc, b) in SCORES.items():
        rows = [f"1\t1\t1\t1\t{x}\t{x}\t{x}\t{m}" for m, x in (("muc", muc), ("b_cubed", b))]
        Path(f"{name}.ev").write_text("\n".join([HEADER, *rows, ""]), encoding="utf-8")
    return [f"{name}.ev" for name in SCORES]


def drawn(files: list[str], capsys: pytest.CaptureFixture[str], *flags: str) -> list[str]:
    """The names of the figures that were saved, as the command says."""
    arguments = ["plot-systems", "-m", "muc", "-m", "b_cubed", "-o", "./{}.png", *flags]
    assert main([*arguments, *files]) == 0
    said = capsys.readouterr().out.strip()
    assert said.startswith("Saved to ./{")
    assert said.endswith("}.png")
    names = said.removeprefix("Saved to ./{").removesuffix("}.png").split(",")
    assert all(Path(f"{name}.png").stat().st_size > 1000 for name in names)
    return names


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ((), ["muc", "b_cubed"]),
        (("--by-system",), ["A.one", "A.two", "B.one"]),
        (("--by-system", "--group-re", "team."), ["teamA", "teamB"]),
        (("--single-plot",), ["altogether"]),
        (("--heatmap",), ["heatmap"]),
        (("--scatter",), ["muc", "b_cubed", "_legend_"]),
        (("--prf", "--rows", "--limits", "tight", "-s", "muc"), ["muc", "b_cubed"]),
    ],
)
def test_figures_by_name(files, capsys, flags: tuple[str, ...], names: list[str]) -> None:
    assert drawn(files, capsys, *flags) == names


def test_one_figure_needs_no_place_for_its_name(files, capsys) -> None:
    assert main(["plot-systems", "-m", "muc", "-o", "out.png", *files]) == 0
    assert capsys.readouterr().out == "Saved to out.png\n"
    assert Path("out.png").stat().st_size > 1000
    assert main(["plot-systems", "-m", "muc", "-m", "b_cubed", "-o", "x.png", *files]) == 2


def shown(files: list[str], capsys: pytest.CaptureFixture[str], code: str, *flags: str) -> str:
    """What a piece of code prints of the figures."""
    command = [
        "plot-systems",
        "-m",
        "muc",
        *flags,
        "--run-code",
        f"axes=figures['muc'].axes[0];{code}",
    ]
    assert main([*command, *files]) == 0
    return capsys.readouterr().out.strip()


TICKS = "print([t.get_text() for t in axes.get_xticklabels()])"


def test_the_best_of_a_group_stands_for_it(files, capsys) -> None:
    """muc is 0.2, 0.4 and 0.6 for one and two of team A and one of team B."""
    best = ("--group-re", "team.", "--best-in-group", "muc", "-s", "score")
    assert shown(files, capsys, TICKS, *best) == "['B.one', 'A.two']"
    assert shown(files, capsys, TICKS, *best, "--at-most", "1") == "['B.one']"
    points = "print([line.get_ydata().tolist() for line in axes.get_lines()][0])"
    assert shown(files, capsys, points, "--group-re", "team.") == "[0.2, 0.4, 0.6]"
    assert shown(files, capsys, TICKS, "--group-re", "team.") == "['teamA', 'teamB']"


def test_styles_and_labels(files, capsys) -> None:
    line = "line=axes.get_lines()[0];print(line.get_color(),line.get_marker())"
    assert shown(files, capsys, line) == "k ."
    assert shown(files, capsys, line, "--style-map", '{"fscore": "r/s"}') == "r s"
    named = ("--label-map", '{"A.one": "first"}')
    assert shown(files, capsys, TICKS, *named) == "['first', 'A.two', 'B.one']"
    assert shown(files, capsys, TICKS, "--anon") == "['', '', '']"


@pytest.mark.parametrize(
    ("flags", "status"),
    [
        (("--single-plot", "--scatter"), 2),
        (("--single-plot", "-s", "score"), 2),
        (("--ci", "90"), 2),
        (("--run-code", "1", "-o", "x{}"), 2),
        (("-m", "absent"), 1),
        (("--group-re", "x+"), 1),
        (("-s", "absent"), 1),
    ],
)
def test_flags_that_do_not_go_together(files, capsys, flags: tuple[str, ...], status: int) -> None:
    try:
        found = main(["plot-systems", *flags, *files])
    except SystemExit as left:
        found = int(left.code or 0)
    assert found == status
    assert not list(Path().glob("*.pdf"))


def test_intervals_are_drawn_from_confidence(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    head = "measure\tmetric\t90%(\tscore\t)90%"
    Path("a.conf").write_text(f"{head}\nmuc    \tfscore   \t0.250\t0.500\t0.625\n")
    code = "print(axes.collections[0].get_segments()[0].tolist())"
    flags = ("-i", "confidence", "--ci", "90")
    assert shown(["a.conf"], capsys, code, *flags) == "[[0.0, 0.25], [0.0, 0.625]]"


def test_measures_are_compared_in_pictures(files, capsys) -> None:
    command = [
        "compare-measures",
        "-e",
        "-f",
        "plot",
        "-o",
        "./{}.png",
        "-m",
        "muc",
        "-m",
        "b_cubed",
    ]
    assert main([*command, *files]) == 0
    said = capsys.readouterr().out.strip()
    assert said == "Saved to ./{pearson,spearman,kendall,spread,violin}.png"
    assert Path("violin.png").exists()
