"""Reports as files: JSON, CSV, Markdown, and how they reach the disk."""

from __future__ import annotations

import csv
import io
import json
import stat
from pathlib import Path

import msgspec
import pytest

from karat.model.report import Report
from karat.present import csvfile, jsonfile, markdown, writing


def test_json_is_one_document_in_full_precision(report: Report) -> None:
    report.scores[0] = msgspec.structs.replace(report.scores[0], value=0.1 + 0.2)
    content = jsonfile.render(report)
    assert json.loads(content)["scores"][0]["value"] == 0.30000000000000004
    undefined = json.loads(content)["scores"][2]
    assert (undefined["value"], undefined["reason"]) == (None, "one class only")
    assert Report.from_json(content) == report


def test_csv_holds_scores_and_slices(report: Report) -> None:
    rows = list(csv.DictReader(io.StringIO(csvfile.render(report).decode(), newline="")))
    assert [row["kind"] for row in rows] == ["score"] * 4 + ["slice"] * 2 + ["signature"]
    assert rows[-1]["name"] == report.signature.text
    assert float(rows[0]["value"]) == 0.80112
    assert rows[2]["value"] == ""
    assert rows[2]["reason"] == "one class only"
    assert (rows[5]["field"], rows[5]["level"], rows[5]["q"]) == ("meta.language", "de", "0.0002")


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_cell_of_text_starts_a_formula(report: Report, start: str) -> None:
    report.slices[0] = msgspec.structs.replace(report.slices[0], level=start + "cmd()")
    rows = list(csv.DictReader(io.StringIO(csvfile.render(report).decode(), newline="")))
    assert rows[4]["level"] == "'" + start + "cmd()"
    assert rows[5]["difference"] == "-0.0466"


def test_markdown_is_tables(report: Report) -> None:
    page = markdown.render(report).decode()
    assert "| accuracy | 0.8011 | 0.7940 – 0.8083 | 11\u202f873 |" in page
    assert "| mcc | – |  | 11\u202f873 |" in page
    assert "- mcc: one class only" in page
    assert "**FAIL**" in page


def test_markdown_out_of_data_is_text(report: Report) -> None:
    report.slices[0] = msgspec.structs.replace(
        report.slices[0], level="a|b <script>[x](y)\nnew *row*"
    )
    page = markdown.render(report).decode()
    assert "<script>" not in page
    assert "a\\|b &lt;script>\\[x\\](y)\\\\nnew \\*row\\*" in page


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"old")
    path.chmod(0o640)
    writing.write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]


def test_a_link_is_followed(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_bytes(b"old")
    link.symlink_to(real)
    writing.write_atomically(link, b"new")
    assert link.is_symlink()
    assert real.read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    path.write_bytes(b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        writing.write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["r.json"]
