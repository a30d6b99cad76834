"""A place where Hiatus is installed, for tests of `hiatus backup` and `hiatus restore`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner, Result

import serve
from tests import outside, postgres


class Place:
    """A database with its settings. ``keys`` is HIATUS_SECRET_KEYS; without it, a file has them."""

    def __init__(self, url: str, folder: Path, keys: str | None = None) -> None:
        self.url = url
        self.env = {
            "PATH": f"{postgres.client_programs()}:{os.environ['PATH']}",
            "DATABASE_URL": url,
        }
        self.key_file = folder / "secret-keys"
        if keys is not None:
            self.env["HIATUS_SECRET_KEYS"] = keys
        elif url.startswith("sqlite:"):
            self.key_file = Path(f"{url.removeprefix('sqlite:///')}.key")
        else:
            self.env["HIATUS_SECRET_KEYS_FILE"] = str(self.key_file)

    def run(self, *words: str | Path) -> Result:
        result = CliRunner().invoke(serve.command_line(self.env), [str(word) for word in words])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    def has_tables(self) -> bool:
        path = Path(self.url.removeprefix("sqlite:///"))
        if self.url.startswith("sqlite:"):
            return path.exists() and path.stat().st_size > 0
        query = "SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1"
        return outside.rows(self.url, query) != []


@contextmanager
def empty_copy_of(url: str, folder: Path) -> Iterator[str]:
    """The URL of a database of the same engine that is empty, or a file that is missing."""
    folder.mkdir()
    if url.startswith("sqlite:"):
        yield f"sqlite:///{folder}/restored.db"
        return
    name = url.rpartition("/")[2].partition("?")[0]
    empty = postgres.make_database(url, f"{name}_restored")
    try:
        yield empty
    finally:
        postgres.drop_database(empty)
