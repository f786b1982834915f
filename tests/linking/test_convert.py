"""What formats can hold goes there and back; what they cannot is left out and said."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from karat.errors import DataError
from karat.run.convert import convert

ROWS = (
    "d1\t1\t4\tE1\t1.0\tPER/NAM",
    "d1\t6\t9\tNIL1\t1.0\tORG/NOM",
    "d2\t3\t5\tNIL1\t1.0\tPER/NAM",
    "d2\t7\t9\tE3\t1.0\tGPE/NAM",
)
PLACES, IDS = slice(0, 3), slice(0, 4)


def there(folder: Path, rows: tuple[str, ...] | list[str], to: str, **options: str) -> set[str]:
    """Rows in another format; the codes of what is said about it."""
    table = folder / "table.tsv"
    table.write_text("".join(f"{row}\n" for row in rows), "utf-8")
    return {p.code for p in convert([table], folder / "there", "neleval", to, options)[1]}


def back(folder: Path, source: str, **options: str) -> list[str]:
    """The rows that the other format holds."""
    path = folder / "there"
    inputs = [path / "queries.xml", path / "links.tab"] if source == "tac2014" else [path]
    convert(inputs, folder / "back.tsv", source, "neleval", options)
    return (folder / "back.tsv").read_text("utf-8").splitlines()


def cells(rows: tuple[str, ...] | list[str], which: slice) -> list[list[str]]:
    return [row.split("\t")[which] for row in rows]


@pytest.mark.parametrize("target", ["tac2014", "tac2015", "brat-links"])
def test_formats_that_hold_everything(tmp_path: Path, target: str) -> None:
    assert there(tmp_path, ROWS, target) == set()
    assert back(tmp_path, target) == list(ROWS)


def test_coreference_keeps_ids_where_they_may_be_ids(tmp_path: Path) -> None:
    ids = {"with_kb": "1", "cross_doc": "1"}
    assert there(tmp_path, ROWS, "conll-coref", **ids) == {"cells-dropped"}
    assert cells(back(tmp_path, "conll-coref", **ids), IDS) == cells(ROWS, IDS)


def test_numbers_of_clusters_meet_no_id(tmp_path: Path) -> None:
    """NIL0:d is id 0 of its document, so what has no id of its own is number 1."""
    rows = ["d\t1\t2\tE1", "d\t3\t4\tNIL0:d", "d\t5\t6\tE1", "d\t7\t8\tNIL0:d"]
    assert "ids-dropped" in there(tmp_path, rows, "conll-coref")
    found = [row[3] for row in cells(back(tmp_path, "conll-coref"), IDS)]
    assert found == ["NIL1:d", "NIL0:d", "NIL1:d", "NIL0:d"]


@pytest.mark.parametrize("seed", range(20))
def test_coreference_goes_there_and_back(tmp_path: Path, seed: int) -> None:
    """Whatever is kept comes back as it was, and what is left out is said."""
    dice = Random(seed)
    spans = sorted({(s, s + dice.randint(0, 6)) for s in (dice.randint(0, 25) for _ in range(20))})
    rows = [f"d\t{s}\t{e}\t{dice.choice(['E1', 'E2', 'NIL1'])}" for s, e in spans]
    ids = {"with_kb": "1", "cross_doc": "1"}
    said = there(tmp_path, rows, "conll-coref", **ids)
    found = cells(back(tmp_path, "conll-coref", **ids), IDS)
    wanted = cells(rows, IDS)
    assert [row for row in found if row not in wanted] == []
    assert ("mention-dropped" in said) == (len(found) < len(wanted))
    crossing = any(
        a[3] == b[3] and int(a[1]) < int(b[1]) < int(a[2]) < int(b[2])
        for a in wanted
        for b in wanted
    )
    assert (len(found) < len(wanted)) == (crossing or wanted[0][1] == "0")


def test_tokens_that_no_format_of_tokens_has(tmp_path: Path) -> None:
    rows = ["d\t0\t4\tE1", "d\t5\t3\tE1", "d\t6\t7\tE1"]
    for target in ("conll-coref", "aida"):
        assert "mention-dropped" in there(tmp_path, rows, target)
        assert cells(back(tmp_path, target), PLACES) == [["d", "6", "7"]]
        (tmp_path / "there").unlink()
        (tmp_path / "back.tsv").unlink()
    with pytest.raises(DataError) as caught:
        there(tmp_path, ["d\t1\t999999999999\tE"], "aida")
    assert [p.code for p in caught.value.problems] == ["offset-too-large"]


def test_aida_keeps_ids_and_says_what_nils_lose(tmp_path: Path) -> None:
    said = there(tmp_path, [*ROWS, "d2\t8\t8\tE4"], "aida")
    assert said == {"cells-dropped", "clusters-dropped", "mention-dropped"}
    found = cells(back(tmp_path, "aida"), IDS)
    assert [row[:3] for row in found] == cells(ROWS, PLACES)
    assert [row[3] for row in found] == ["E1", "NIL_NME_1", "NIL_NME_2", "E3"]


@pytest.mark.parametrize(
    ("target", "row", "code"),
    [
        ("tac2015", "d\t0\t1\tE\t1.0\tPER", "type-made"),
        ("tac2014", "d\t0\t1\tE", "type-made"),
        ("tac2014", "d\t0\t1", "nil-made"),
        ("brat-links", "d\t0\t1\tE\t0.5\tPER", "cells-dropped"),
        ("brat-links", "a/b\t0\t1\tE\t1\tPER", "name-changed"),
        ("brat-links", "d\t0\t1\tE\t1\tPER\tF\t1\tPER", "candidates-dropped"),
    ],
)
def test_what_is_made_up_or_lost_is_said(tmp_path: Path, target: str, row: str, code: str) -> None:
    assert there(tmp_path, [row], target) == {code}


@pytest.mark.parametrize(
    ("target", "rows"),
    [
        ("tac2015", ["a b\t0\t1\tE"]),
        ("brat-links", ["a/b\t0\t1\tE", "a_b\t0\t1\tE"]),
        ("tac2014", ["d\x01\t0\t1\tE"]),
    ],
)
def test_names_that_cannot_be_written(tmp_path: Path, target: str, rows: list[str]) -> None:
    with pytest.raises(DataError) as caught:
        there(tmp_path, rows, target)
    assert [p.code for p in caught.value.problems] == ["name-unwritable"]
    assert not (tmp_path / "there").exists()
