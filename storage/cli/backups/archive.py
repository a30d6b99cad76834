"""The archive of a backup: a tar file with a manifest, the secret keys and the database.

``opened`` reads nothing but what ``write`` makes: these names in this order, as regular files. It
extracts no path and follows no link or extension of the format, so a hostile archive is refused.
"""

from __future__ import annotations

import fcntl
import hashlib
import io
import os
import re
import shutil
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, Final

import orjson

from storage.access.stored_secrets import MAX_CANARIES
from storage.db.compiled import Engine

_FORMAT: Final = 1
_MANIFEST: Final = "manifest.json"
_KEYS: Final = "secret-keys"
_DATABASES: Final[Mapping[str, str]] = {
    "sqlite": "database.sqlite3",
    "postgresql": "database.dump",
}
# The members of a manifest that are text. No form has a control character.
_FORMS: Final[Mapping[str, re.Pattern[str]]] = {
    "version": re.compile(r"[0-9A-Za-z.+_-]{1,100}"),
    "created_at": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z"),
    "engine": re.compile("|".join(_DATABASES)),
    "migration": re.compile(r"[0-9A-Za-z_]{1,100}"),
}
_CANARY: Final = re.compile(r"[0-9A-Za-z_=-]{1,1000}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_MAX_TOOL: Final = 1_000
# Of the manifest and the keys, which are read into memory.
_MAX_SMALL: Final = 1_000_000
_CHUNK: Final = 1_000_000


class BackupRefused(Exception):
    """A backup or restore that is not possible; the message says what to do."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contents:
    """What a database contains: its last migration, and texts that its secret keys decrypt."""

    migration: str
    canaries: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What an archive says about itself.

    ``tool`` is the major version of the pg_dump that made it, 0 for SQLite. ``sha256`` has the
    checksum of each other file.
    """

    format: int
    version: str
    created_at: str
    engine: Engine
    tool: int
    migration: str
    canaries: tuple[str, ...]
    sha256: Mapping[str, str]

    @property
    def contents(self) -> Contents:
        return Contents(migration=self.migration, canaries=self.canaries)

    @property
    def has_keys(self) -> bool:
        return _KEYS in self.sha256

    @classmethod
    def parse(cls, text: bytes) -> Manifest:
        """Raises ValueError."""
        raw = orjson.loads(text)
        if not isinstance(raw, dict):
            raise ValueError
        canaries, sha256, tool = raw.get("canaries"), raw.get("sha256"), raw.get("tool")
        if not (
            # Not True, which equals 1.
            type(raw.get("format")) is type(tool) is int
            and raw["format"] == _FORMAT
            and 0 <= tool <= _MAX_TOOL
            and all(_is_text(raw.get(name), form) for name, form in _FORMS.items())
            and isinstance(canaries, list)
            and len(canaries) <= MAX_CANARIES
            and all(_is_text(canary, _CANARY) for canary in canaries)
            and isinstance(sha256, dict)
            and sha256.keys() <= {_KEYS, _DATABASES[raw["engine"]]}
            and all(_is_text(digest, _DIGEST) for digest in sha256.values())
        ):
            raise ValueError
        names = cls.__slots__
        return cls(**{name: raw[name] for name in names} | {"canaries": tuple(canaries)})


def _is_text(value: object, form: re.Pattern[str]) -> bool:
    return isinstance(value, str) and form.fullmatch(value) is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class Archive:
    """An archive whose checksums are right. ``keys`` is None if it has no secret keys."""

    manifest: Manifest
    keys: bytes | None
    file: BinaryIO
    database_at: int
    database_size: int

    def database(self) -> Iterator[bytes]:
        """The database in chunks."""
        self.file.seek(self.database_at)
        return _chunks(self.file, self.database_size)


def write(
    path: Path,
    database: Path,
    keys: bytes | None,
    contents: Contents,
    *,
    version: str,
    created_at: str,
    engine: Engine,
    tool: int,
) -> Manifest:
    """Write the archive to a new file, readable by its owner only and safely on disk."""
    name = _DATABASES[engine]
    with database.open("rb") as copy:
        sha256 = {name: hashlib.file_digest(copy, "sha256").hexdigest()}
    if keys is not None:
        sha256[_KEYS] = hashlib.sha256(keys).hexdigest()
    manifest = Manifest(
        format=_FORMAT,
        version=version,
        created_at=created_at,
        engine=engine,
        tool=tool,
        migration=contents.migration,
        canaries=contents.canaries,
        sha256=sha256,
    )
    with (
        new_file(path) as file,
        tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar,
        database.open("rb") as copy,
    ):
        _add(tar, _MANIFEST, io.BytesIO(orjson.dumps(asdict(manifest))))
        if keys is not None:
            _add(tar, _KEYS, io.BytesIO(keys))
        _add(tar, name, copy)
    return manifest


@contextmanager
def opened(path: Path) -> Iterator[Archive]:
    """The archive in that file, all of it checked. Raises BackupRefused."""
    if path.exists() and not path.is_file():
        raise BackupRefused(f"{path} is not a file.")
    with path.open("rb") as file:
        try:
            archive = _read(file)
        except (ValueError, tarfile.TarError):
            raise BackupRefused(
                f"{path} is damaged or not an archive of `hiatus backup` that this version reads. "
                "Nothing was changed."
            ) from None
        yield archive


def _read(file: BinaryIO) -> Archive:
    """Raises ValueError or TarError."""
    manifest = Manifest.parse(_small(file, _header(file, _MANIFEST)))
    name = _DATABASES[manifest.engine]
    keys = None
    if manifest.has_keys:
        keys = _small(file, _header(file, _KEYS))
        if hashlib.sha256(keys).hexdigest() != manifest.sha256[_KEYS]:
            raise ValueError
    size = _header(file, name)
    archive = Archive(
        manifest=manifest, keys=keys, file=file, database_at=file.tell(), database_size=size
    )
    digest = hashlib.sha256()
    for chunk in archive.database():
        digest.update(chunk)
    if digest.hexdigest() != manifest.sha256.get(name):
        raise ValueError
    return archive


def _header(file: BinaryIO, name: str) -> int:
    """The size of the next file, which has that name. Raises ValueError or TarError."""
    header = tarfile.TarInfo.frombuf(file.read(tarfile.BLOCKSIZE), "ascii", "strict")
    if header.name != name or header.type != tarfile.REGTYPE or header.size < 0:
        raise ValueError
    return header.size


def _small(file: BinaryIO, size: int) -> bytes:
    if size > _MAX_SMALL:
        raise ValueError
    content = file.read(size)
    file.seek(-size % tarfile.BLOCKSIZE, os.SEEK_CUR)
    return content


def _chunks(file: BinaryIO, size: int) -> Iterator[bytes]:
    """Raises ValueError if the file ends too early."""
    while size:
        chunk = file.read(min(size, _CHUNK))
        if not chunk:
            raise ValueError
        size -= len(chunk)
        yield chunk


def _add(tar: tarfile.TarFile, name: str, content: BinaryIO) -> None:
    header = tarfile.TarInfo(name)
    header.size = content.seek(0, os.SEEK_END)
    header.mode = 0o600
    content.seek(0)
    tar.addfile(header, content)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A new file, readable by its owner only; on disk at the end."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w+b") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def partial_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside ``path`` for unfinished files, removed at the end.

    One process at a time; what a killed process left there is removed. Raises BackupRefused.
    """
    folder = path.with_name(path.name + ".partial")
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        if os.fstat(handle).st_uid != os.geteuid():
            raise BackupRefused(f"{folder} belongs to another user. Remove it first.")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupRefused(f"Another process is working on {path}.") from None
        for left in folder.iterdir():
            left.unlink()
        try:
            yield folder
        finally:
            shutil.rmtree(folder)
    finally:
        os.close(handle)


def publish(partial: Path, path: Path) -> None:
    """Move a finished file to its place, so that a crash leaves all of it or nothing."""
    partial.replace(path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
