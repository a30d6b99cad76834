"""Brings the message catalogues up to date with the code: ``make catalogues``.

New messages are added untranslated, and those that the code no longer has are removed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bot.base import language
from bot.interaction import errors
from storage.base.errors import InvalidInput, SecretKeysUnusable
from tests.raised_codes import documented_errors, every_refusal

ROOT: Final = Path(__file__).parents[1]
BOT: Final = ROOT / "bot"
# Babel's keywords: functions, with the positions of the arguments that are messages.
IN_BOT: Final = {"gettext": None, "gettext_noop": None, "ngettext": (1, 2)}
IN_ERRORS: Final = {
    **{"Sentence": None, "FieldError": (3,), "of": (3,), "_refusal": (2,), "__init__": None},
    # Slack shows the message of other errors in other words.
    **{kind.__name__: None for kind in every_refusal() if kind not in errors.REWORDED},
}
# Shown on a terminal or in REST only.
_NOT_IN_SLACK: Final = {
    *(
        "idempotency.py",
        "commands.py",
        "console.py",
        "key_commands.py",
        "csv_file.py",
        "leave_file.py",
        "leave_import.py",
        "people_file.py",
        "people_import.py",
    ),
}


@cache
def of_errors() -> dict[str, set[str]]:
    """Messages of errors that Slack shows, in English, each with the files that contain it."""
    # Slack has another text for these.
    replaced = {
        error.detail.template for error in documented_errors() if type(error) in errors.REWORDED
    }
    examples = {str(each.detail) for each in InvalidInput(*InvalidInput.example).errors}
    not_shown = replaced | examples | {str(SecretKeysUnusable())}
    paths: dict[str, set[str]] = {}
    for folder in (ROOT / "storage", ROOT / "api" / "webhooks"):
        for name, _, message, _, _ in extract_from_dir(
            folder, method_map=[("**.py", "python")], keywords=IN_ERRORS
        ):
            is_shown = Path(name).name not in _NOT_IN_SLACK and message not in not_shown
            if is_shown and str(message).strip():
                paths.setdefault(str(message), set()).add(f"{folder.relative_to(ROOT)}/{name}")
    return paths


def messages_in_f_strings(source: str) -> Iterator[str | tuple[str, ...]]:
    """Messages of calls inside f-strings, where Babel finds none before Python 3.12."""
    f_strings = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.JoinedStr)]
    calls = {
        call: call.func.id
        for f_string in f_strings
        for call in ast.walk(f_string)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
    }
    for call, function in calls.items():
        if function in IN_BOT:
            count = len(IN_BOT[function] or (1,))
            constants = [arg.value for arg in call.args[:count] if isinstance(arg, ast.Constant)]
            texts = [text for text in constants if isinstance(text, str)]
            if len(texts) == count:
                yield tuple(texts) if count > 1 else texts[0]


def messages() -> Catalog:
    """Every message that the code shows in Slack, with the files that contain it."""
    catalogue = Catalog(charset="utf-8")
    for name, _, message, comments, _ in extract_from_dir(
        BOT, method_map=[("**.py", "python")], keywords=IN_BOT
    ):
        # No line numbers: every change of a file would change every catalogue.
        catalogue.add(message, locations=[(f"bot/{name}", None)], auto_comments=comments)  # type: ignore[list-item]
    for path in sorted(BOT.rglob("*.py")):
        for in_f_string in messages_in_f_strings(path.read_text(encoding="utf-8")):
            catalogue.add(in_f_string, locations=[(str(path.relative_to(ROOT)), None)])  # type: ignore[list-item]
    for message, paths in of_errors().items():
        if message not in errors.IN_SLACK:
            catalogue.add(message, locations=[(path, None) for path in sorted(paths)])  # type: ignore[misc]
    return catalogue


def read(name: str) -> Catalog:
    """The stored catalogue; an empty one for a new language."""
    path = language.CATALOGUES / f"{name}.po"
    if not path.exists():
        return Catalog(locale=name, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=name)


def write(name: str, catalogue: Catalog) -> None:
    """Write the catalogue with a header of the fields that gettext reads, without dates."""
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
        catalogue.update(messages(), no_fuzzy_matching=True, update_creation_date=False)
        catalogue.obsolete.clear()
        write(name, catalogue)


if __name__ == "__main__":
    main(sys.argv[1:])
