"""Reads from the source which codes a field may be refused with, wherever it is checked."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from api.http import field_errors

ROOT: Final = Path(__file__).parent.parent
# What only the operator's commands and the Slack side read; people are told in sentences there.
_NOT_OF_REST: Final = {
    "operator_commands.py",
    "people_file.py",
    "people_import.py",
    "slack_profiles.py",
}
# Where each of these has its code; `one_of` makes one of the field's name.
_CODE_AT: Final = {"PydanticCustomError": 0, "of": 1}


def codes_in_the_source() -> set[str]:
    """The literal codes of every FieldError, InvalidInput.of and PydanticCustomError."""
    found: set[str] = set()
    for folder in ("api", "storage"):
        paths = (ROOT / folder).rglob("*.py")
        for path in (one for one in paths if one.name not in _NOT_OF_REST):
            found.update(_codes(ast.parse(path.read_text())))
    return found | {code for code, _ in field_errors.WORDS.values()}


def _codes(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                yield from codes_of_call(node, tree)
            case ast.Dict(fields, checks):
                yield from codes_of_words(fields, checks)


def codes_of_call(call: ast.Call, tree: ast.Module) -> Iterator[str]:
    """What a field may be refused with by this call, if it is one that makes such a refusal."""
    match call.func:
        case ast.Name(name):
            pass
        case ast.Attribute(ast.Name("InvalidInput" | "cls"), "of" as name):
            pass
        case _:
            return
    if name in _CODE_AT and len(call.args) > _CODE_AT[name]:
        yield from _texts(call.args[_CODE_AT[name]], tree)
    if name == "FieldError":
        for keyword in call.keywords:
            if keyword.arg == "code":
                yield from _texts(keyword.value, tree)


def codes_of_words(fields: list[ast.expr | None], checks: list[ast.expr]) -> Iterator[str]:
    """What storage.base.fields.one_of refuses with: its code has the field's name in it."""
    for field, check in zip(fields, checks, strict=True):
        match field, check:
            case ast.Constant(str(name)), ast.Call(ast.Attribute(attr="one_of")):
                yield f"unknown_{name}"


def _texts(code: ast.expr, tree: ast.Module) -> Iterator[str]:
    match code:
        case ast.Name(name):
            yield from _assigned_to(name, tree)
        case _:
            yield from _constants(code)


def _assigned_to(name: str, tree: ast.Module) -> Iterator[str]:
    """What a variable or parameter of that name may be, anywhere in the module."""
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            names = [one.arg for one in function.args.args]
            if name in names:
                yield from _passed_to(function.name, names.index(name), tree)
            for node in ast.walk(function):
                yield from _assigned_by(node, name)


def _assigned_by(node: ast.AST, name: str) -> Iterator[str]:
    match node:
        case ast.Assign([ast.Name(target)], value) if target == name:
            yield from _constants(value)
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)):
            for one, value in zip(targets, values, strict=True):
                if isinstance(one, ast.Name) and one.id == name:
                    yield from _constants(value)


def _constants(value: ast.expr) -> Iterator[str]:
    match value:
        case ast.Constant(str(text)):
            yield text
        case ast.IfExp():
            yield from _constants(value.body)
            yield from _constants(value.orelse)


def _passed_to(function: str, position: int, tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name(name), args) if name == function and len(args) > position:
                yield from _constants(args[position])
