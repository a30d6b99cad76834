"""Reads the codes of errors from the source: each call that makes an error of a field.

A code is a literal where it is raised, or an argument of a function that passes it on, so that a
search for the code finds its rule. Any other expression is reported.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Final

import storage
from storage.base.errors import DomainError

ROOT: Final = Path(__file__).parents[1]
_PRODUCT: Final = ("api", "bot", "storage")
# Examples of errors, the table of pydantic's errors, and the makers themselves.
_WITHOUT_OWN_CODES: Final = (
    "api/documentation",
    "api/http/field_errors.py",
    "storage/base/errors/general.py",
)

_Function = ast.FunctionDef | ast.AsyncFunctionDef
# The position of parameters that are given by name only.
_NO_POSITION: Final = 1_000


@dataclass(frozen=True)
class _Argument:
    """The argument of a call that is a code: its position, and the name of its parameter."""

    position: int
    name: str


# What makes an error of a field. Functions that pass on a parameter are added while reading.
_MAKERS: Final[Mapping[str, _Argument]] = {
    "InvalidInput.of": _Argument(1, "code"),
    "InvalidInput.at": _Argument(1, "code"),
    "FieldError": _Argument(1, "code"),
    "PydanticCustomError": _Argument(0, "error_type"),
}


@dataclass(frozen=True)
class RaisedCodes:
    """``places`` has where each code is raised; ``unclear`` has expressions that are not codes."""

    places: dict[str, list[str]] = field(default_factory=dict)
    unclear: list[str] = field(default_factory=list)


def product_sources() -> dict[str, str]:
    """The text of each module that may raise a code of its own, by path."""
    paths = (path for package in _PRODUCT for path in (ROOT / package).rglob("*.py"))
    sources = {path.relative_to(ROOT).as_posix(): path for path in sorted(paths)}
    return {
        name: path.read_text(encoding="utf-8")
        for name, path in sources.items()
        if not name.startswith(_WITHOUT_OWN_CODES)
    }


@cache
def codes_of_product() -> RaisedCodes:
    """As ``raised_codes`` of all modules, read once: that takes seconds."""
    return raised_codes(product_sources())


def raised_codes(sources: Mapping[str, str]) -> RaisedCodes:
    """The codes in these modules."""
    modules = {path: _Module(ast.parse(text)) for path, text in sources.items()}
    # Private functions are known in their module only.
    makers: dict[tuple[str | None, str], _Argument] = {
        (None, name): argument for name, argument in _MAKERS.items()
    }
    while True:
        raised = RaisedCodes()
        found = dict(makers)
        for path, module in modules.items():
            known = {
                name: argument for (of, name), argument in makers.items() if of in (None, path)
            }
            for call, expression in module.codes(known):
                place = f"{path}:{call.lineno}"
                for meaning in module.meanings(expression):
                    if isinstance(meaning, tuple):
                        name, argument = meaning
                        found[path if name.startswith("_") else None, name] = argument
                    elif isinstance(meaning, ast.Constant) and isinstance(meaning.value, str):
                        raised.places.setdefault(meaning.value, []).append(place)
                    elif not (isinstance(meaning, ast.Attribute) and meaning.attr == "code"):
                        # The code of another error is collected where that one is defined.
                        raised.unclear.append(f"{place}: {ast.unparse(meaning)}")
        if found == makers:
            return raised
        makers = found


def called_names(sources: Iterable[str]) -> set[str]:
    """The last part of the name of everything that is called or raised."""
    return {
        _name_of(node).rpartition(".")[2]
        for source in sources
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call | ast.Raise)
        and (node := call.func if isinstance(call, ast.Call) else call.exc) is not None
    }


class _Module:
    def __init__(self, tree: ast.Module) -> None:
        self._tree = tree
        self._calls = [
            (node, _name_of(node.func).split("."))
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
        ]
        self._parents = {
            child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)
        }

    def codes(self, makers: Mapping[str, _Argument]) -> Iterator[tuple[ast.Call, ast.expr]]:
        """Each call that makes an error, with the expression of its code."""
        for node, parts in self._calls:
            argument = makers.get(parts[-1]) or makers.get(".".join(parts[-2:]))
            if argument is not None and len(node.args) > argument.position:
                yield node, node.args[argument.position]
            elif argument is not None:
                named = [one.value for one in node.keywords if one.arg == argument.name]
                yield from ((node, value) for value in named)

    def meanings(self, expression: ast.expr) -> Iterator[ast.expr | tuple[str, _Argument]]:
        """What it may stand for: expressions, or the parameter of a function."""
        if isinstance(expression, ast.IfExp):
            yield from self.meanings(expression.body)
            yield from self.meanings(expression.orelse)
        elif isinstance(expression, ast.Name):
            yield from self._meanings_of_name(expression)
        else:
            yield expression

    def _meanings_of_name(self, name: ast.Name) -> Iterator[ast.expr | tuple[str, _Argument]]:
        for function in self._functions_around(name):
            if (argument := _parameter(function, name.id)) is not None:
                yield function.name, argument
                return
            if values := _assigned(name.id, ast.walk(function)):
                for value in values:
                    yield from self.meanings(value)
                return
        constants = _assigned(name.id, self._tree.body)
        for value in constants:
            yield from self.meanings(value)
        if not constants:
            yield name

    def _functions_around(self, node: ast.AST) -> Iterator[_Function]:
        while (parent := self._parents.get(node)) is not None:
            node = parent
            if isinstance(node, _Function):
                yield node


def _parameter(function: _Function, name: str) -> _Argument | None:
    positional = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    if positional[:1] in (["self"], ["cls"]):
        del positional[0]
    if name in positional:
        return _Argument(positional.index(name), name)
    if name in [one.arg for one in function.args.kwonlyargs]:
        return _Argument(_NO_POSITION, name)
    return None


def _assigned(name: str, nodes: Iterable[ast.AST]) -> list[ast.expr]:
    return [
        value
        for node in nodes
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        for value in _set_to(name, target, node.value)
    ]


def _set_to(name: str, target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, part in zip(target.elts, value.elts, strict=False):
            yield from _set_to(name, one, part)


def _name_of(node: ast.expr) -> str:
    return ast.unparse(node.func if isinstance(node, ast.Call) else node)


def every_refusal() -> list[type[DomainError]]:
    """Every kind of refusal that storage knows, wherever it is defined."""
    for module in pkgutil.walk_packages(storage.__path__, "storage."):
        if ".migrations" not in module.name:
            importlib.import_module(module.name)
    return _kinds_of(DomainError)


def _kinds_of(kind: type[DomainError]) -> list[type[DomainError]]:
    return [found for child in kind.__subclasses__() for found in (child, *_kinds_of(child))]


def documented_errors() -> list[DomainError]:
    """An example of each kind that the code raises."""
    return [kind.documented() for kind in every_refusal() if "cure" in vars(kind)]
