"""``hiatus serve --demo --start-over``: removes the SQLite file of a demo, and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from storage.base.settings import SQLITE_PREFIX
from storage.operations import console, demo


def start_over(url: str) -> None:
    """Remove the demo's database. Exits with a message if it is, or may be, anything else.

    The key file beside it stays, so that the demo's API keys do.
    """
    if not url.startswith(SQLITE_PREFIX):
        console.fail("--start-over removes an SQLite file: create an empty database instead.")
    path = Path(url.removeprefix(SQLITE_PREFIX))
    if not path.exists():
        return
    try:
        with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as database:
            tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
            slugs = (
                database.execute("SELECT slug FROM organisations").fetchall() if tables[0] else []
            )
            if any(slug != demo.SLUG for (slug,) in slugs):
                console.fail(
                    f"{path} has organisations that are not the demo: nothing was removed."
                )
            # Fails unless this is the only connection; removes the -wal and -shm files.
            database.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.Error as error:
        console.fail(f"{path} is in use or no database of Hiatus ({error}): nothing was removed.")
    path.unlink()
