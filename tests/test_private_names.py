"""No private name of a dependency is used or overridden, as far as the source shows it."""

from __future__ import annotations

import ast
import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

import peewee

ROOT = Path(__file__).parents[1]
OWN = ("api", "bot", "playground", "storage", "serve")
# Peewee documents the metadata of models under this name.
DOCUMENTED = frozenset({"_meta"})
# Typeshed documents this module for type checkers.
STANDARD = sys.stdlib_module_names | {"_typeshed"}


def product_files() -> list[Path]:
    files = [path for package in OWN for path in (ROOT / package).rglob("*.py")]
    return sorted([*files, ROOT / "serve.py"])


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED


def is_foreign(module: str) -> bool:
    top = module.partition(".")[0]
    return top not in OWN and top not in STANDARD


def private_uses(tree: ast.Module) -> Iterator[str]:
    """Imports of private names, and private attributes of what is imported."""
    foreign: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and is_foreign(node.module):
            foreign |= {alias.asname or alias.name for alias in node.names}
            names = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from (f"{node.module}: {name}" for name in names if is_private(name))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if is_foreign(alias.name):
                    foreign.add((alias.asname or alias.name).partition(".")[0])
                    yield from (alias.name for part in alias.name.split(".") if is_private(part))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and is_private(node.attr):
            owner = node.value
            while isinstance(owner, ast.Attribute):
                owner = owner.value
            if isinstance(owner, ast.Name) and owner.id in foreign:
                yield ast.unparse(node)


def defined(kind: type) -> set[str]:
    """Private names that the source of a class defines: in its body, and on ``self``."""
    names = {node.attr for node in selves(kind) if isinstance(node.ctx, ast.Store)}
    statements = [each for node in class_tree(kind).body for each in getattr(node, "body", [])]
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if is_private(name)}


@cache
def class_tree(kind: type) -> ast.Module:
    try:
        return ast.parse(textwrap.dedent(inspect.getsource(kind)))
    except (OSError, TypeError):
        # Written in C.
        return ast.Module(body=[], type_ignores=[])


def selves(kind: type) -> list[ast.Attribute]:
    return [
        node
        for node in ast.walk(class_tree(kind))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    ]


def overridden(module: ModuleType) -> Iterator[str]:
    """Private names of foreign base classes that the module's classes define or use."""
    for kind in vars(module).values():
        if not isinstance(kind, type) or kind.__module__ != module.__name__:
            continue
        foreign = [base for base in kind.__mro__ if is_foreign(base.__module__)]
        if not foreign:
            continue
        theirs = {name for base in foreign for name in defined(base)}
        used = {node.attr for node in selves(kind) if is_private(node.attr)} | defined(kind)
        yield from (f"{kind.__name__}: {name}" for name in sorted(used & theirs))


def test_no_private_name_of_a_dependency_is_used() -> None:
    uses = {path: list(private_uses(ast.parse(path.read_text()))) for path in product_files()}

    assert {module_name(path): names for path, names in uses.items() if names} == {}


def test_no_private_name_of_a_dependency_is_overridden() -> None:
    files = [path for path in product_files() if "migrations" not in path.parts]
    names = {path: list(overridden(importlib.import_module(module_name(path)))) for path in files}

    assert {module_name(path): found for path, found in names.items() if found} == {}


def test_a_private_name_that_is_used_or_overridden_is_found() -> None:
    class Impatient(peewee.Database):  # type: ignore[misc]
        def _connect(self) -> None:
            self._state = None

    module = ModuleType(__name__)
    module.__dict__["Impatient"] = Impatient
    source = "import peewee\nfrom httpx._client import AsyncClient\npeewee.Model._meta._x()"

    assert sorted(overridden(module)) == ["Impatient: _connect", "Impatient: _state"]
    assert list(private_uses(ast.parse(source))) == [
        "httpx._client: _client",
        "peewee.Model._meta._x",
    ]
