"""Keeps the catalogues in step with what the code says: ``make catalogues``.

New sentences are added untranslated, those that are gone are dropped; nothing is translated here.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from babel.messages import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bot import language

BOT: Final = Path(__file__).parents[1] / "bot"
# What marks a sentence, and which of the arguments are it.
KEYWORDS: Final = {"say": None, "later": None, "say_count": (1, 2)}


def said() -> Catalog:
    """Every sentence that the code says, with the files that say it."""
    catalogue = Catalog(charset="utf-8")
    for name, _, message, comments, _ in extract_from_dir(
        BOT, method_map=[("**.py", "python")], keywords=KEYWORDS
    ):
        # No line numbers: every change of a file would change every catalogue.
        catalogue.add(message, locations=[(f"bot/{name}", None)], auto_comments=comments)  # type: ignore[list-item]
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
