"""`karat.convert` writes what `karat convert` does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli.main import root

COLUMNS = "Ada B-PER\nmet O\nBob B-PER\n\n"


def test_it_writes_what_the_command_writes(tmp_path: Path) -> None:
    source, ours, theirs = (tmp_path / name for name in ("in.conll", "a.jsonl", "b.jsonl"))
    source.write_text(COLUMNS)
    karat.convert(source, ours, target="tags")
    words = ["convert", str(source), "--to", "tags", "--output", str(theirs)]
    assert CliRunner().invoke(root, words).exit_code == 0
    assert ours.read_bytes() == theirs.read_bytes()
    assert b"PER" in ours.read_bytes()


def test_what_cannot_be_converted_is_an_error(tmp_path: Path) -> None:
    source = tmp_path / "in.conll"
    source.write_text(COLUMNS)
    with pytest.raises(karat.UsageError):
        karat.convert(source, tmp_path / "out", target="nowhere")
    assert not (tmp_path / "out").exists()
