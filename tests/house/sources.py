"""The source tree as the house tests see it: files, their packages and what they import."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "karat"


@dataclass(frozen=True)
class Import:
    """One import statement. `top` says that it runs when the module is loaded."""

    module: str
    line: int
    top: bool


@dataclass(frozen=True)
class Module:
    """One file: its dotted name, the package of karat it belongs to, and its syntax tree."""

    path: Path
    tree: ast.Module

    @property
    def name(self) -> str:
        return self.path.relative_to(PACKAGE).with_suffix("").as_posix()

    @property
    def area(self) -> str:
        """`stats` for karat/stats/units.py, `api` for karat/api.py, '' for karat/__init__.py."""
        first = self.name.split("/")[0]
        return "" if first == "__init__" else first

    @property
    def folder(self) -> str:
        """The task folder a file of `tasks` lies in, '' for the registry itself."""
        parts = self.name.split("/")
        return parts[1] if len(parts) > 2 and parts[0] == "tasks" else ""

    def imports(self) -> list[Import]:
        return list(_imports(self.tree.body, top=True))


def _imports(body: list[ast.stmt], top: bool) -> Iterator[Import]:
    for node in body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, top)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            for alias in node.names:
                yield Import(f"{base}.{alias.name}", node.lineno, top)
        else:
            inner = top and not _is_deferred(node)
            yield from _imports([n for n in ast.iter_child_nodes(node) if _holds(n)], inner)


def _holds(node: ast.AST) -> bool:
    return isinstance(node, ast.stmt | ast.excepthandler | ast.match_case)


def _is_deferred(node: ast.AST) -> bool:
    """Whether what is inside runs later (a function) or never (TYPE_CHECKING)."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


@cache
def modules() -> tuple[Module, ...]:
    """Every file of the package."""
    paths = sorted(p for p in PACKAGE.rglob("*.py"))
    return tuple(Module(p, ast.parse(p.read_text(encoding="utf-8"))) for p in paths)
