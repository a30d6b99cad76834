"""What an operation's code can reach, read from the source: functions, and the refusals in them.

An upper bound: every name that a function mentions counts as used, whatever the circumstances.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from api.http import errors as http
from api.http.operations import Operation
from storage.base.errors import InvalidInput, Refusal
from tests.codes import ROOT, codes_of_call, codes_of_words

_FOLDERS: Final = ("api", "storage")


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """Something at the top of a module: a function, a class or a value."""

    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.module}.{self.name}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A refusal that a place can answer with."""

    status: int
    code: str
    place: str


class _Module:
    """One file: what is at its top, and what it imports under which name."""

    def __init__(self, path: Path) -> None:
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.tops: dict[str, ast.stmt | ast.expr] = {}
        self.imported: dict[str, tuple[str, str]] = {}
        for top in self.tree.body:
            match top:
                case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
                    self.tops[name] = top
                case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(
                    ast.Name(name), value=ast.expr() as value
                ):
                    self.tops[name] = value
        # Some import in a function, because the other imports them.
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    self.imported[one.asname or one.name] = (node.module, one.name)


@cache
def _modules() -> dict[str, _Module]:
    paths = [path for folder in _FOLDERS for path in (ROOT / folder).rglob("*.py")]
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): _Module(path) for path in paths}


def reached_by(operation: Operation) -> frozenset[Place]:
    """Everything of ours that serving the operation may come to, its body and query included."""
    beginnings: list[Any] = [
        operation.handler,
        operation.prepare,
        operation.lock,
        operation.query,
        operation.body,
    ]
    waiting = [
        Place(module=one.__module__, name=one.__name__) for one in beginnings if one is not None
    ]
    reached: set[Place] = set()
    while waiting:
        place = waiting.pop()
        if place not in reached:
            reached.add(place)
            waiting.extend(_mentioned(place))
    return frozenset(reached)


def said_by(operation: Operation) -> set[Said]:
    """Every refusal in what the operation may come to, with its place."""
    return {said for place in reached_by(operation) for said in _said_in(place)}


@cache
def _mentioned(place: Place) -> frozenset[Place]:
    found = set()
    for node in ast.walk(_modules()[place.module].tops[place.name]):
        match node:
            case ast.Attribute(ast.Name(owner), name):
                module = _module_named(place.module, owner)
                found.add(_top_named(module, name) if module else None)
            case ast.Name(name):
                found.add(_top_named(place.module, name))
    return frozenset(one for one in found if one is not None)


def _module_named(inside: str, name: str) -> str | None:
    source, original = _modules()[inside].imported.get(name, ("", ""))
    module = f"{source}.{original}"
    return module if module in _modules() else None


def _top_named(module: str, name: str) -> Place | None:
    known = _modules().get(module)
    if known is None:
        return None
    if name in known.tops:
        return Place(module=module, name=name)
    if name in known.imported:
        return _top_named(*known.imported[name])
    return None


@cache
def _said_in(place: Place) -> frozenset[Said]:
    return frozenset(
        Said(status=status, code=code, place=str(place)) for status, code in _codes_in(place)
    )


def _codes_in(place: Place) -> Iterator[tuple[int, str]]:
    module = _modules()[place.module]
    for node in ast.walk(module.tops[place.name]):
        match node:
            case ast.Raise(exc=ast.expr() as raised):
                kind = _refusal(place.module, raised)
                if kind is not None:
                    yield http.status_of(kind), kind.code
            case ast.Call():
                yield from ((422, code) for code in codes_of_call(node, module.tree))
            case ast.Dict(fields, checks):
                yield from ((422, code) for code in codes_of_words(fields, checks))


def _refusal(module: str, raised: ast.expr) -> type[Refusal] | None:
    """The refusal that is raised, unless it is one of fields, which have codes of their own."""
    place = None
    match raised.func if isinstance(raised, ast.Call) else raised:
        case ast.Name(name):
            place = _top_named(module, name)
        case ast.Attribute(ast.Name(owner), name):
            place = _top_named(_module_named(module, owner) or "", name)
    found: Any = place and getattr(import_module(place.module), place.name)
    is_refusal = isinstance(found, type) and issubclass(found, Refusal)
    return found if is_refusal and not issubclass(found, InvalidInput) else None
