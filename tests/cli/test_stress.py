"""`karat stress` as a command: what it refuses before it reads anything."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.mark.parametrize("flag", ["--out", "--failing-rows"])
@pytest.mark.parametrize("side", ["--ref", "--eval-predictions", "--tests"])
def test_what_is_read_is_never_written_over(karat, tmp_path: Path, flag: str, side: str) -> None:
    read = tmp_path / "rows.json"
    read.write_text("[]", encoding="utf-8")
    answer = karat("stress", "--task", "nli", side, str(read), flag, str(read))
    assert answer.status == 2
    assert f"{flag} {read}: is one of the inputs" in answer.err
    assert read.read_text(encoding="utf-8") == "[]"


def test_a_configuration_is_not_written_over(karat, tmp_path: Path) -> None:
    config = tmp_path / "config.json"
    config.write_text("{}", encoding="utf-8")
    assert "one of the inputs" in karat("stress", str(config), "--out", str(config)).err
    assert config.read_text(encoding="utf-8") == "{}"
