"""The commands ``hiatus backup`` and ``hiatus restore``.

An archive is a tar file with a manifest, the secret keys and the database: a copy by SQLite's
``VACUUM INTO``, or a dump by ``pg_dump``. ``restore`` reads these names alone and extracts no path.
"""

from __future__ import annotations

import hashlib
import io
import os
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import IO, Final

import click
import orjson

from storage.base import texts
from storage.base.environment import Environment
from storage.base.secrets import Secrets
from storage.base.settings import (
    SQLITE_PREFIX,
    read_database_timeout,
    read_database_url,
    secret_key_file,
    split_keys,
)
from storage.db.compiled import Engine
from storage.db.migrations.history import COMMIT_BEFORE, is_too_old
from storage.db.schema import is_known, latest_migration
from storage.keys import stored_secrets
from storage.operations import backup_copies, console
from storage.operations.backup_copies import BackupRefused, beside, new_file
from storage.operations.console import Clock, Env

_FORMAT: Final = 1
_MANIFEST: Final = "manifest.json"
_KEYS: Final = "secret-keys"
_DATABASES: Final[Mapping[str, str]] = {
    "sqlite": "database.sqlite3",
    "postgresql": "database.dump",
}
# Of the manifest and the keys, which are read into memory.
_MAX_SMALL: Final = 1_000_000
_KEYS_OF_SETTING: Final = (
    "The secret keys are not in it, because they come from the setting HIATUS_SECRET_KEYS. Save "
    "that setting in another place: without it, webhook secrets, calendar links and Slack tokens "
    "are lost."
)
_file_argument = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@dataclass(frozen=True, kw_only=True, slots=True)
class Maker:
    """Which Hiatus made an archive, and when."""

    version: str
    commit: str
    created_at: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What an archive says about itself. ``sha256`` has the checksum of each other file."""

    version: str
    created_at: str
    engine: Engine
    migration: str
    canaries: tuple[str, ...]
    sha256: Mapping[str, str]
    format: int = _FORMAT
    # Earlier versions kept the version of pg_dump here.
    tool: int = 0
    # They did not keep their commit.
    commit: str = "unknown"

    @classmethod
    def parse(cls, text: bytes) -> Manifest:
        """Raises ValueError, TypeError or AttributeError."""
        raw = orjson.loads(text)
        # Later versions may add members.
        known = {each.name: raw[each.name] for each in fields(cls) if each.name in raw}
        manifest = cls(**known | {"canaries": tuple(raw["canaries"])})
        shown = (manifest.version, manifest.created_at, manifest.migration, *manifest.canaries)
        if (
            manifest.format != _FORMAT
            or not {_DATABASES[manifest.engine]} <= manifest.sha256.keys()
            or not all(isinstance(text, str) and text.isascii() for text in shown)
        ):
            raise ValueError
        return manifest


@dataclass(frozen=True, kw_only=True, slots=True)
class _Deployment:
    """Settings, read without creating a key file as a start does.

    ``key_file`` is where the keys come from, existing or not; None if HIATUS_SECRET_KEYS itself
    has them.
    """

    env: Env
    url: str
    timeout_seconds: float
    keys_of_setting: str
    key_file: Path | None

    @classmethod
    def from_env(cls, env: Env) -> _Deployment:
        """Raises SettingsError."""
        environment = Environment(env)
        url = read_database_url(environment)
        timeout_seconds = read_database_timeout(environment)
        environment.check()
        return cls(
            env=env,
            url=url,
            timeout_seconds=timeout_seconds,
            keys_of_setting=environment.text("HIATUS_SECRET_KEYS"),
            key_file=secret_key_file(environment, url),
        )

    @property
    def engine(self) -> Engine:
        return "sqlite" if self.url.startswith(SQLITE_PREFIX) else "postgresql"

    @property
    def sqlite_file(self) -> Path:
        return Path(self.url.removeprefix(SQLITE_PREFIX)).absolute()

    def keys(self) -> str:
        """The secret keys that are there now; "" without any."""
        if self.key_file is None:
            return self.keys_of_setting
        try:
            return self.key_file.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return ""


def add_to(app: click.Group, env: Env, clock: Clock, version: str, commit: str) -> None:
    """Add ``hiatus backup`` and ``hiatus restore``; ``version`` and ``commit`` are of Hiatus."""

    @app.command("backup")
    @_file_argument
    @click.option(
        "--accept-loss",
        is_flag=True,
        help="Save even if the secret keys are lost and cannot read the secrets.",
    )
    def backup_command(file: Path, accept_loss: bool) -> None:
        """Save the database and its secret keys in a new FILE, while Hiatus runs."""
        with _errors_on_stderr():
            deployment = _Deployment.from_env(env)
            created_at = clock().isoformat(timespec="seconds").replace("+00:00", "Z")
            made_by = Maker(version=version, commit=commit, created_at=created_at)
            manifest = _back_up(deployment, file.absolute(), made_by, accept_loss)
        click.echo(f"Saved the database in {file}.")
        if _KEYS in manifest.sha256:
            text = "It contains the secret keys as well: store it where only operators can read it."
            click.echo(text)
        elif deployment.key_file is not None:
            text = f"The secret keys are not in it, because {deployment.key_file} is missing."
            click.echo(text, err=True)
        else:
            click.echo(_KEYS_OF_SETTING, err=True)
        if not _reads(deployment.keys(), manifest.canaries):
            click.echo("No key decrypts the secrets in it.", err=True)

    @app.command("restore")
    @_file_argument
    @click.option(
        "--accept-loss",
        is_flag=True,
        help="Restore even if the secret keys are lost and secrets stay unreadable.",
    )
    def restore_command(file: Path, accept_loss: bool) -> None:
        """Restore FILE, made by `hiatus backup`, into an empty database."""
        with _errors_on_stderr():
            manifest = _restore(_Deployment.from_env(env), file, accept_loss)
        click.echo(f"Restored the database as of {texts.printable(manifest.created_at)}.")
        if manifest.migration == latest_migration():
            click.echo("Start Hiatus.")
        else:
            click.echo("Its schema is older: run `hiatus migrate`, then start Hiatus.")


def _back_up(deployment: _Deployment, path: Path, made_by: Maker, accept_loss: bool) -> Manifest:
    with beside(path) as folder:
        database = folder / "database"
        if deployment.engine == "sqlite":
            migration, canaries = backup_copies.save_sqlite(deployment.sqlite_file, database)
        else:
            migration, canaries = backup_copies.save_postgresql(
                deployment.url, deployment.timeout_seconds, deployment.env, database
            )
        if not accept_loss and not _reads(deployment.keys(), canaries):
            raise BackupRefused(
                "The secret keys of this environment cannot decrypt the secrets in the database, "
                "so nothing was saved. Set HIATUS_SECRET_KEYS as `hiatus serve` has it, or use "
                "--accept-loss if the keys are lost for good."
            )
        keys = deployment.keys().encode() if deployment.key_file is not None else b""
        with database.open("rb") as copy:
            sha256 = {
                _DATABASES[deployment.engine]: hashlib.file_digest(copy, "sha256").hexdigest()
            }
        if keys:
            sha256[_KEYS] = hashlib.sha256(keys).hexdigest()
        manifest = Manifest(
            **asdict(made_by),
            engine=deployment.engine,
            migration=migration,
            canaries=canaries,
            sha256=sha256,
        )
        with new_file(folder / "archive") as file, tarfile.open(fileobj=file, mode="w") as tar:
            _add(tar, _MANIFEST, io.BytesIO(orjson.dumps(asdict(manifest))))
            if keys:
                _add(tar, _KEYS, io.BytesIO(keys))
            with database.open("rb") as copy:
                _add(tar, _DATABASES[deployment.engine], copy)
        try:
            # Unlike a move, it replaces nothing.
            os.link(folder / "archive", path)
        except FileExistsError:
            raise BackupRefused(f"{path} exists. Choose another name.") from None
    return manifest


def _add(tar: tarfile.TarFile, name: str, content: IO[bytes]) -> None:
    header = tarfile.TarInfo(name)
    header.size = content.seek(0, os.SEEK_END)
    header.mode = 0o600
    content.seek(0)
    tar.addfile(header, content)


def _restore(deployment: _Deployment, path: Path, accept_loss: bool) -> Manifest:
    try:
        with tarfile.open(path, "r:") as tar:
            manifest, keys, database = _checked(tar)
            if manifest.engine != deployment.engine:
                raise BackupRefused(
                    f"{path} is a backup of {manifest.engine}, and DATABASE_URL names "
                    f"{deployment.engine}."
                )
            if is_too_old(manifest.migration):
                raise BackupRefused(
                    f"{path} was made before 1.0.0, with the migration {manifest.migration}: "
                    f"restore and migrate it with commit {COMMIT_BEFORE} first."
                )
            if not is_known(manifest.migration):
                raise BackupRefused(
                    f"{path} has the migration {manifest.migration}, which this version does not "
                    "know: restore it with a newer version of Hiatus, which has that migration."
                )
            new_keys = _keys_to_write(deployment, manifest, keys, accept_loss)
            write_keys = partial(_write_keys, deployment, new_keys)
            if manifest.engine == "sqlite":
                backup_copies.restore_sqlite(deployment.sqlite_file, database, write_keys)
            else:
                backup_copies.restore_postgresql(
                    deployment.url, deployment.timeout_seconds, deployment.env, database, write_keys
                )
    except (tarfile.TarError, ValueError, TypeError, AttributeError, LookupError):
        raise BackupRefused(
            f"{path} is damaged or not an archive of `hiatus backup` that this version reads. "
            "Nothing was changed."
        ) from None
    return manifest


def _checked(tar: tarfile.TarFile) -> tuple[Manifest, bytes, IO[bytes]]:
    """The manifest, the keys and the database, whose checksums are right."""
    manifest = Manifest.parse(_next(tar, _MANIFEST).read(_MAX_SMALL))
    keys = b""
    if _KEYS in manifest.sha256:
        keys = _next(tar, _KEYS).read(_MAX_SMALL)
        if hashlib.sha256(keys).hexdigest() != manifest.sha256[_KEYS]:
            raise ValueError
    name = _DATABASES[manifest.engine]
    database = _next(tar, name)
    digest = hashlib.sha256()
    while chunk := database.read(_MAX_SMALL):
        digest.update(chunk)
    if digest.hexdigest() != manifest.sha256[name]:
        raise ValueError
    database.seek(0)
    return manifest, keys, database


def _next(tar: tarfile.TarFile, name: str) -> IO[bytes]:
    """The content of the next file, which has that name."""
    member = tar.next()
    if member is None or member.name != name or member.type != tarfile.REGTYPE:
        raise ValueError
    content = tar.extractfile(member)
    assert content is not None
    return content


def _keys_to_write(
    deployment: _Deployment, manifest: Manifest, saved: bytes, accept_loss: bool
) -> str:
    """The archive's keys, for the key file; "" if those that are there fit."""
    keys = deployment.keys()
    if not keys and deployment.key_file is not None:
        saved_keys = ",".join(split_keys(saved.decode(errors="replace")))
        if saved_keys and (accept_loss or _reads(saved_keys, manifest.canaries)):
            return saved_keys
    if accept_loss or _reads(keys, manifest.canaries):
        return ""
    cure = "Set HIATUS_SECRET_KEYS to those of the time of the backup"
    if saved and keys:
        where = deployment.key_file or "HIATUS_SECRET_KEYS"
        cure += f", or move it away to restore those of the archive ({where})"
    elif saved:
        cure += ", or HIATUS_SECRET_KEYS_FILE to a file in which to restore those of the archive"
    raise BackupRefused(
        f"The secret keys that are set cannot decrypt the secrets in the archive. {cure}, or use "
        "--accept-loss if they are lost for good. Nothing was changed."
    )


def _write_keys(deployment: _Deployment, keys: str) -> None:
    if keys and deployment.key_file is not None:
        path = deployment.key_file.absolute()
        with beside(path) as folder:
            with new_file(folder / "keys") as file:
                file.write(f"{keys}\n".encode())
            (folder / "keys").replace(path)


def _reads(keys: str, canaries: tuple[str, ...]) -> bool:
    """Whether the keys decrypt all of these texts."""
    known = split_keys(keys)
    if not known:
        return not canaries
    secrets = Secrets(known)
    return all(stored_secrets.is_readable(secrets, text) for text in canaries)


@contextmanager
def _errors_on_stderr() -> Iterator[None]:
    with console.errors_on_stderr():
        try:
            yield
        except BackupRefused as error:
            # It may quote an archive, a database or a program.
            console.fail(texts.printable(str(error)))
        except OSError as error:
            console.fail(f"{error.filename or 'The disk'}: {error.strerror}.")
