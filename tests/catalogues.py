"""Keeps the catalogues in step with what the code says: ``make catalogues``.

New sentences are added untranslated, those that are gone are dropped; nothing is translated here.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bot.base import language
from bot.interaction import errors

ROOT: Final = Path(__file__).parents[1]
BOT: Final = ROOT / "bot"
# What marks a sentence, and which of the arguments are it.
KEYWORDS: Final = {"gettext": None, "gettext_noop": None, "ngettext": (1, 2)}

# What only the operator's commands say, on a terminal.
OF_OPERATORS: Final = ("commands.py", "operator_commands.py", "people_file.py", "people_import.py")
# What tells people the domain's own sentence.
PLAIN: Final = (errors.detail, errors.details)
_REFUSALS: Final = {one.__name__ for one in errors.SENTENCES}
OTHERWISE: Final = {one.__name__ for one, says in errors.SENTENCES.items() if says not in PLAIN}


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """A sentence of a refusal where it stands; ``template`` is None where it is put together."""

    path: str
    line: int
    template: str | None
    figures: tuple[ast.expr, ...]


def refused() -> list[Refused]:
    """Every sentence with which the domain refuses people something."""
    paths = [*(ROOT / "storage").rglob("*.py"), ROOT / "api" / "webhooks" / "addresses.py"]
    return [
        found
        for path in sorted(paths)
        if path.name not in OF_OPERATORS
        for found in _refused(path, ast.parse(path.read_text()))
    ]


def _refused(path: Path, tree: ast.Module) -> Iterator[Refused]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in OTHERWISE | {"Refusal"}:
            # Its own sentence is none that people read.
            passed_over = {id(one) for one in ast.walk(node)}
            for one in ast.walk(tree):
                if id(one) in passed_over and isinstance(one, ast.Call):
                    one.func = ast.Name("passed_over")
    for call in ast.walk(tree):
        match call:
            case ast.Call(ast.Name("FieldError"), keywords=arguments):
                for argument in arguments:
                    if argument.arg == "detail":
                        yield from _of_call(path, call, argument.value, ())
            case ast.Call(args=arguments) if (position := _sentence_at(call)) is not None:
                figures = tuple(one.value for one in call.keywords if one.arg)
                if len(arguments) > position:
                    yield from _of_call(path, call, arguments[position], figures)


def _of_call(
    path: Path, call: ast.Call, sentence: ast.expr, figures: tuple[ast.expr, ...]
) -> Iterator[Refused]:
    name = str(path.relative_to(ROOT))
    match sentence:
        case ast.Constant(str(template)):
            yield Refused(path=name, line=call.lineno, template=template, figures=figures)
        case ast.JoinedStr() | ast.BinOp():
            yield Refused(path=name, line=call.lineno, template=None, figures=figures)


def _sentence_at(call: ast.Call) -> int | None:
    """Which argument is what people are told, if the call makes a refusal."""
    match call.func:
        case ast.Name("Sentence"):
            return 0
        case ast.Name("_refusal"):
            return 1
        case ast.Attribute(ast.Name("InvalidInput" | "cls"), "of"):
            return 2
        case ast.Attribute(ast.Call(ast.Name("super")), "__init__"):
            return 0
        case ast.Name(name) if name in _REFUSALS - OTHERWISE:
            return 0
    return None


def said() -> Catalog:
    """Every sentence that the code says, with the files that say it."""
    catalogue = Catalog(charset="utf-8")
    for name, _, message, comments, _ in extract_from_dir(
        BOT, method_map=[("**.py", "python")], keywords=KEYWORDS
    ):
        # No line numbers: every change of a file would change every catalogue.
        catalogue.add(message, locations=[(f"bot/{name}", None)], auto_comments=comments)  # type: ignore[list-item]
    for one in refused():
        if one.template is not None and one.template not in errors.IN_SLACK:
            catalogue.add(one.template, locations=[(one.path, None)])  # type: ignore[list-item]
    return catalogue


def read(name: str) -> Catalog:
    """The catalogue as it stands, empty for a language that has none."""
    path = language.CATALOGUES / f"{name}.po"
    if not path.exists():
        return Catalog(locale=name, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=name)


def write(name: str, catalogue: Catalog) -> None:
    """Only what gettext reads of the header: the rest would say when and by whom."""
    header = (
        f"Language: {name}",
        f"Plural-Forms: {catalogue.plural_forms}",
        "MIME-Version: 1.0",
        "Content-Type: text/plain; charset=utf-8",
    )
    with (language.CATALOGUES / f"{name}.po").open("wb") as file:
        lines = "".join(f'"{line}\\n"\n' for line in header)
        file.write(f'msgid ""\nmsgstr ""\n{lines}\n'.encode())
        write_po(file, catalogue, width=100, sort_output=True, omit_header=True)


def main(names: list[str]) -> None:
    for name in {*language.available(), *names}:
        catalogue = read(name)
        catalogue.update(said(), no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        write(name, catalogue)


if __name__ == "__main__":
    main(sys.argv[1:])
