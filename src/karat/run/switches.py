"""The settings of tests: which of them run, and at which levels they warn and fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

from karat.read.place import Place, printable, show
from karat.run.shape import check_type, is_a, key_path, near
from karat.suite.limits import ALIASES, GLOBAL, KINDS, LIMITS

OWN = ("run", "severity_thresholds")
"""The settings that one test has."""

TESTS = (*LIMITS, *ALIASES)

DESCENDING = "hop"
"""In the names of tests of others where a smaller distance is worse (HopSkipJump)."""


def check(settings: Mapping[str, Any], inside: str, place: Place) -> None:
    """Report what is wrong with settings, and what has no effect."""
    for name, setting in settings.items():
        path = key_path(inside, name)
        if name in GLOBAL:
            _check_global(name, setting, path, place)
            continue
        if name not in TESTS and _misspelt(name, (*TESTS, *GLOBAL), path, place):
            continue
        if name not in TESTS:
            message = f"there is no test {show(name)}; its settings are ignored"
            place.add("config-unknown-test", message, printable(path), severity="warning")
        elif ALIASES.get(name) in settings:
            message = f"{name} is another name of {ALIASES[name]}; give one of them"
            place.add("config-exclusive", message, path)
        if isinstance(setting, dict):
            _check_test(name, setting, path, place)
        elif name in TESTS:
            check_type(setting, "object?", path, place)


def _misspelt(
    name: str, known: tuple[str, ...], path: str, place: Place, cutoff: float = 0.8
) -> bool:
    """Whether a name is nearly one of those known, which is reported."""
    close = get_close_matches(name, known, n=1, cutoff=cutoff)
    if close:
        message = f"unknown key '{printable(name)}'; did you mean '{close[0]}'?"
        place.add("config-unknown-key", message, printable(path))
    return bool(close)


def _check_test(name: str, setting: Mapping[str, Any], path: str, place: Place) -> None:
    """The settings of one test; those of a test that only others have are held to the same form."""
    for key in setting:
        own = key_path(path, key)
        if key in OWN or name not in TESTS or _misspelt(key, OWN, own, place, 0.6):
            continue
        message = f"{name} has no setting {show(key)}; it is ignored"
        place.add("config-ignored", message, printable(own), severity="warning")
    if "run" in setting:
        check_type(setting["run"], "boolean?", key_path(path, "run"), place)
    levels = setting.get("severity_thresholds")
    if levels is not None:
        _check_levels(name, levels, key_path(path, "severity_thresholds"), place)


def _check_levels(name: str, levels: Any, path: str, place: Place) -> None:
    if not isinstance(levels, list) or len(levels) not in (2, 3):
        message = f"{show(levels)} is not a list of 2 or 3 numbers"
    elif not all(x is None or is_a(x, "number") for x in levels):
        message = f"{show(levels)} holds something that is no number"
    else:
        given = [x for x in levels if x is not None]
        down = _descends(name)
        steps = (b > a if down else b < a for a, b in pairwise(given))
        message = f"thresholds must {'descend' if down else 'ascend'}" if any(steps) else ""
    if message:
        place.add("config-thresholds", message, path)


def _descends(name: str) -> bool:
    """Whether less is worse."""
    limit = LIMITS.get(ALIASES.get(name, name))
    if limit is None:
        return DESCENDING in name.lower()
    return limit.warn is not None and limit.fail is not None and limit.fail < limit.warn


def _check_global(name: str, setting: Any, path: str, place: Place) -> None:
    """A setting of all tests; those for tests that run a model have no effect here."""
    if name == "run_default":
        check_type(setting, "boolean?", path, place)
    elif name == "categories":
        if check_type(setting, "texts?", path, place):
            _check_kinds(setting or (), path, place)
    elif setting:
        place.add("config-ignored", f"{name} has no effect here", path, severity="warning")


def _check_kinds(kinds: Iterable[str], path: str, place: Place) -> None:
    for i, kind in enumerate(kinds):
        if kind.lower() not in KINDS:
            message = f"{show(kind)} is not one of {', '.join(KINDS)}"
            place.add("config-value", message, f"{path}[{i}]", help=near(kind.lower(), KINDS))
