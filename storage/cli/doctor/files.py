"""Checks of an SQLite database's files: free space and permissions."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Final

from storage.cli.doctor.findings import Check, Finding, failed, ok, warning
from storage.cli.doctor.reading import Reader

_MIB: Final = 1 << 20
FULL_BYTES: Final = 100 * _MIB
_LOW_BYTES: Final = 1_024 * _MIB
# Settings that name a file, which may contain a secret, end like this.
_FILE_SETTING: Final = "_FILE"
_PUBLIC_FILES: Final = frozenset({"HIATUS_WEBHOOK_CA_FILE", "SSL_CERT_FILE"})


def checks(reader: Reader, env: Mapping[str, str]) -> list[Check]:
    """``env`` has the paths of files with secrets, in ``NAME_FILE``."""
    secret_files = [
        Path(path.strip())
        for name, path in env.items()
        if name.endswith(_FILE_SETTING)
        and name.startswith(("HIATUS_", "DATABASE_"))
        and name not in _PUBLIC_FILES
        and path.strip()
    ]
    found = []
    if reader.sqlite_path is not None:
        # A link leads to where the data is.
        path = reader.sqlite_path.resolve()
        found.append(Check(subject="disk", look=partial(disk, path)))
        secret_files.append(path.with_name(path.name + ".key"))
    look = partial(permissions, reader.sqlite_path, secret_files)
    return [*found, Check(subject="permissions", look=look)]


def disk(database: Path, full_bytes: int = FULL_BYTES) -> list[Finding]:
    """Whether the folder of the database, its -wal file and its key file has space left.

    A copy of the database, for a backup or a migration that rewrites a table, has to fit.
    """
    free = shutil.disk_usage(database.parent).free
    files = (database, database.with_name(database.name + "-wal"))
    size = sum(file.stat().st_size for file in files if file.exists())
    text = f"{free // _MIB:,} MiB free in {database.parent}; the database has {size // _MIB:,} MiB"
    if free < full_bytes:
        return failed("disk", f"{text}: make space, or writes will fail")
    if free < max(_LOW_BYTES, size):
        return warning("disk", f"{text}: make space for a copy of it and for its growth")
    return ok("disk", text)


def permissions(database: Path | None, secret_files: list[Path]) -> list[Finding]:
    """Whether this user can write the database, and other users can read neither it nor secrets."""
    subject = "permissions"
    for path in [*_of_database(database), *([database.parent] if database else [])]:
        if path.exists() and not os.access(path, os.R_OK | os.W_OK):
            text = f"{path} cannot be read and written by this user: run as its owner, or chown it"
            return failed(subject, text)
    secrets = [path for path in secret_files if _mode(path) & (stat.S_IROTH | stat.S_IWOTH)]
    if secrets:
        names = " ".join(map(str, secrets))
        return failed(subject, f"every user can read secrets: chmod o= {names}")
    files = [*_of_database(database), *secret_files]
    open_files = [path for path in files if _mode(path) & (stat.S_IRWXG | stat.S_IRWXO)]
    if open_files:
        names = " ".join(map(str, open_files))
        return warning(subject, f"other users can read or change files: chmod 600 {names}")
    return ok(subject, "only their owner can read the files with data and secrets")


def _of_database(database: Path | None) -> list[Path]:
    if database is None:
        return []
    return [database.with_name(database.name + end) for end in ("", "-wal", "-shm")]


def _mode(path: Path) -> int:
    """The file's permissions; 0 if it does not exist."""
    return stat.S_IMODE(path.stat().st_mode) if path.exists() else 0
