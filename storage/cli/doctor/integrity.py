"""Whether the SQLite file is damaged: writes may fail, while most reads still work."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Final

from peewee import SQL, Select

from storage.base.errors import DatabaseUnavailable
from storage.cli.doctor.findings import Check, Finding, failed, ok, warning
from storage.cli.doctor.reading import Reader
from storage.db.compiled import compiled

_SUBJECT: Final = "file"
# Files up to this size are read well within the time of a check.
MAX_BYTES: Final = 512 << 20


def check(reader: Reader, path: Path) -> Check:
    return Check(subject=_SUBJECT, look=partial(_look, reader, path))


def _look(reader: Reader, path: Path) -> list[Finding]:
    if path.exists() and path.stat().st_size > MAX_BYTES:
        return ok(_SUBJECT, "is too large for a full check here: `hiatus backup` checks all of it")
    try:
        row = reader.read(lambda tx: tx.first(_first_problem))
    except DatabaseUnavailable as error:
        if "malformed" not in str(error) and "not a database" not in str(error):
            return warning(_SUBJECT, "not checked, because the database cannot be read")
        problem = str(error)
    else:
        assert row is not None
        problem = str(row.problem)
    if problem == "ok":
        return ok(_SUBJECT, "is complete")
    # SQLite's text has several lines.
    text = f"is damaged ({problem.splitlines()[-1]}): stop Hiatus, and restore a backup"
    return failed(_SUBJECT, text)


@compiled
def _first_problem() -> Select:
    return Select([SQL("pragma_quick_check(1)")], [SQL("quick_check").alias("problem")])
