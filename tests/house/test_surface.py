"""The public names: sorted, importable, documented."""

from __future__ import annotations

import pytest
from sources import ROOT

import karat

REFERENCE = ROOT / "docs" / "reference" / "api.md"


def test_all_is_sorted_and_unique() -> None:
    assert list(karat.__all__) == sorted(set(karat.__all__))
    assert dir(karat) == karat.__all__


@pytest.mark.parametrize("name", karat.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(karat, name) is not None


@pytest.mark.parametrize("name", [n for n in karat.__all__ if not n.startswith("_")])
def test_every_public_name_is_documented(name: str) -> None:
    assert getattr(karat, name).__doc__
    assert f"\n## `{name}" in REFERENCE.read_text(encoding="utf-8")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'scroe'"):
        karat.scroe  # type: ignore[attr-defined]  # noqa: B018


def test_py_typed_is_shipped() -> None:
    assert (ROOT / "src" / "karat" / "py.typed").is_file()
