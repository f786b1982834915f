"""The direction of imports is the plan of the house (docs/design/data-flow.md), so it is tested."""

from __future__ import annotations

import ast

import pytest
from sources import Import, Module, modules

NOUNS = {"model", "errors"}
EVERYTHING = {
    *NOUNS, "read", "tasks", "stats", "present", "suite", "models", "run", "api", "samples",
}  # fmt: skip

# What each area may import from karat. An area that is not named here is a failure: a new one
# needs its place in the plan.
MAY_IMPORT: dict[str, set[str]] = {
    "": EVERYTHING,
    "model": {"errors"},
    "errors": {"model"},
    "samples": set(),
    "read": NOUNS,
    "tasks": NOUNS | {"read"},
    "stats": NOUNS,
    "present": NOUNS,
    "models": NOUNS | {"read"},
    "suite": NOUNS | {"read", "stats"},
    "run": EVERYTHING - {"api", "present"} | {""},  # "": the version, for the signature
    "api": EVERYTHING | {""},
    "integrations": NOUNS,
    "pytest_plugin": EVERYTHING,
    "__main__": {"cli"},
    "compat": EVERYTHING | {""},
    "cli": EVERYTHING | {"compat", ""},
}

# Libraries that are slow to import or optional: only inside the functions that need them.
HEAVY = {
    "scipy", "pandas", "pyarrow", "polars", "sklearn", "matplotlib", "openpyxl", "dask",
    "distributed", "torch", "transformers", "fsspec", "datasets", "rich",
}  # fmt: skip
HEAVY_AT_HOME = {"models": {"torch", "transformers"}}

NO_NUMPY_AT_TOP = {"errors", "cli", "present", "compat", ""}
CHANCE = {"random", "numpy.random", "secrets"}
NETWORK = {"socket", "ssl", "http", "urllib.request", "requests", "httpx", "ftplib", "smtplib"}


def each_import(*, top_only: bool = False) -> list[tuple[Module, Import]]:
    return [(m, i) for m in modules() for i in m.imports() if i.top or not top_only]


def within(name: str, families: set[str]) -> bool:
    return any(name == f or name.startswith(f + ".") for f in families)


def area_of(name: str) -> str | None:
    """The area that an import of karat goes to, None for other libraries."""
    parts = name.split(".")
    if parts[0] != "karat":
        return None
    return parts[1] if len(parts) > 1 and parts[1] in MAY_IMPORT else ""


def places(found: list[tuple[Module, Import]]) -> list[str]:
    return [f"{m.name}:{i.line} imports {i.module}" for m, i in found]


def test_every_area_has_its_place() -> None:
    assert {m.area for m in modules()} <= set(MAY_IMPORT)


def test_imports_go_one_way() -> None:
    wrong = []
    for module, one in each_import():
        target = area_of(one.module)
        if target is None or target == module.area:
            continue
        if target not in MAY_IMPORT.get(module.area, set()):
            wrong.append((module, one))
    assert places(wrong) == []


def test_tasks_never_import_each_other() -> None:
    folders = {m.folder for m in modules() if m.folder}
    wrong = []
    for module, one in each_import():
        parts = one.module.split(".")
        other = parts[2] if parts[:2] == ["karat", "tasks"] and len(parts) > 2 else ""
        if module.folder and other in folders and other != module.folder:
            wrong.append((module, one))
    assert places(wrong) == []


def test_heavy_libraries_are_imported_where_they_are_used() -> None:
    wrong = [
        (m, i)
        for m, i in each_import(top_only=True)
        if within(i.module, HEAVY - HEAVY_AT_HOME.get(m.area, set()))
    ]
    assert places(wrong) == []


def test_the_light_side_does_not_import_numpy() -> None:
    cards = {m.name for m in modules() if m.area == "tasks" and m.path.name == "__init__.py"}
    wrong = [
        (m, i)
        for m, i in each_import(top_only=True)
        if within(i.module, {"numpy"}) and (m.area in NO_NUMPY_AT_TOP or m.name in cards)
    ]
    assert places(wrong) == []


def test_chance_comes_from_one_module() -> None:
    wrong = [
        (m, i)
        for m, i in each_import()
        if within(i.module, CHANCE) and m.name != "stats/weights" and m.area != "models"
    ]
    assert places(wrong) == []
    for module in modules():
        if module.name != "stats/weights" and module.area != "models":
            uses = [n.lineno for n in ast.walk(module.tree) if attribute(n) == "np.random"]
            assert uses == [], module.name


def test_nothing_speaks_to_the_network() -> None:
    assert places([(m, i) for m, i in each_import() if within(i.module, NETWORK)]) == []


def test_pickle_is_opened_in_one_place() -> None:
    # models/checkpoints needs the exception's name: torch raises it when it refuses a file.
    homes = {"read/pickles", "models/checkpoints"}
    wrong = [
        (m, i)
        for m, i in each_import()
        if within(i.module, {"pickle", "dill", "cloudpickle", "shelve"}) and m.name not in homes
    ]
    assert places(wrong) == []


def attribute(node: ast.AST) -> str:
    return ast.unparse(node) if isinstance(node, ast.Attribute) else ""


@pytest.mark.parametrize("spoken", ["print", "sys.stdout", "sys.stderr", "sys.__stdout__"])
def test_only_present_and_cli_print(spoken: str) -> None:
    allowed = {"present", "cli", "compat"}
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        if module.area not in allowed
        for node in ast.walk(module.tree)
        if (isinstance(node, ast.Call) and ast.unparse(node.func) == spoken)
        or attribute(node) == spoken
    ]
    assert wrong == []


def test_the_environment_cannot_change_a_score() -> None:
    allowed = {"present", "cli", "compat", "models"}
    wrong = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        if module.area not in allowed
        for node in ast.walk(module.tree)
        if attribute(node) in {"os.environ", "os.getenv", "os.environb"}
    ]
    assert wrong == []


def test_no_file_is_named_for_nothing() -> None:
    empty = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "handler"}
    assert [m.name for m in modules() if empty & set(m.name.split("/"))] == []


def test_the_checks_themselves_see_what_they_should() -> None:
    tree = ast.parse(
        "import numpy as np\n"
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    import pandas\n"
        "try:\n    import a\nexcept ImportError:\n    from b import c\n"
        "def f():\n    import scipy.stats\n"
    )
    module = Module(modules()[0].path, tree)
    assert [(i.module, i.top) for i in module.imports()] == [
        ("numpy", True),
        ("typing.TYPE_CHECKING", True),
        ("pandas", False),
        ("a", True),
        ("b.c", True),
        ("scipy.stats", False),
    ]
    assert area_of("karat.stats.units.fold") == "stats"
    assert area_of("karat.__version__") == ""
    assert area_of("numpy") is None
