"""The commands ``hiatus backup`` and ``hiatus restore``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from storage.access import stored_secrets
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
from storage.cli import console
from storage.cli.console import Clock, Env
from storage.db.schema import is_known, latest_migration

# Modules that only a backup needs are imported where they are used, so that commands start quickly.
if TYPE_CHECKING:
    from storage.cli.backups.archive import Archive, Manifest

_OTHER_MANIFEST: Final = (
    "The archive's manifest is not that of its database, so its secret keys may be wrong."
)
_file_argument = click.argument("file", type=click.Path(dir_okay=False, path_type=Path))


@dataclass(frozen=True, kw_only=True, slots=True)
class _Deployment:
    """Settings, read without creating a key file as a start does.

    ``key_file`` is where the keys come from, existing or not; None if HIATUS_SECRET_KEYS itself
    has them.
    """

    url: str
    timeout_seconds: float
    keys_of_setting: str
    key_file: Path | None

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> _Deployment:
        """Raises SettingsError."""
        environment = Environment(env)
        url = read_database_url(environment)
        timeout_seconds = read_database_timeout(environment)
        environment.check()
        return cls(
            url=url,
            timeout_seconds=timeout_seconds,
            keys_of_setting=environment.text("HIATUS_SECRET_KEYS"),
            key_file=secret_key_file(environment, url),
        )

    @property
    def sqlite_file(self) -> Path | None:
        """The absolute path of the SQLite file; None for PostgreSQL."""
        if not self.url.startswith(SQLITE_PREFIX):
            return None
        return Path(self.url.removeprefix(SQLITE_PREFIX)).absolute()

    def keys(self) -> str:
        """The secret keys that are there now; "" without any."""
        if self.key_file is None:
            return self.keys_of_setting
        try:
            return self.key_file.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return ""


def add_to(app: click.Group, env: Env, clock: Clock, version: str) -> None:
    """Add ``hiatus backup`` and ``hiatus restore``; ``version`` is that of Hiatus."""

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
            manifest = _back_up(
                deployment, env, file.absolute(), clock(), version, accept_loss=accept_loss
            )
        click.echo(f"Saved the database in {file}.")
        if manifest.has_keys:
            click.echo(
                "It contains the secret keys as well: store it where only operators can read it."
            )
        else:
            click.echo(_where_keys_are(deployment), err=True)
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
            deployment = _Deployment.from_env(env)
            manifest = _restore(deployment, env, file, accept_loss=accept_loss)
        click.echo(f"Restored the database as of {manifest.created_at}.")
        if manifest.migration == latest_migration():
            click.echo("Start Hiatus.")
        else:
            click.echo("Its schema is older: run `hiatus migrate`, then start Hiatus.")


def _back_up(
    deployment: _Deployment,
    env: Env,
    path: Path,
    now: datetime,
    version: str,
    *,
    accept_loss: bool,
) -> Manifest:
    from storage.cli.backups import archive

    if path.exists():
        raise archive.BackupRefused(f"{path} exists. Choose another name.")
    with archive.partial_folder(path) as folder:
        database = folder / "database"
        if deployment.sqlite_file is not None:
            from storage.cli.backups import sqlite_backup

            contents, tool = sqlite_backup.save(deployment.sqlite_file, database), 0
        else:
            from storage.cli.backups import postgresql_backup

            contents, tool = postgresql_backup.save(
                deployment.url, deployment.timeout_seconds, env, database
            )
        if not accept_loss and not _reads(deployment.keys(), contents.canaries):
            raise archive.BackupRefused(
                "The secret keys of this environment cannot decrypt the secrets in the database, "
                "so nothing was saved. Set HIATUS_SECRET_KEYS as `hiatus serve` has it, or use "
                "--accept-loss if the keys are lost for good."
            )
        keys = deployment.keys() if deployment.key_file is not None else ""
        manifest = archive.write(
            folder / "archive",
            database,
            keys.encode() or None,
            contents,
            version=version,
            created_at=now.isoformat(timespec="seconds").replace("+00:00", "Z"),
            engine="postgresql" if tool else "sqlite",
            tool=tool,
        )
        if path.exists():
            raise archive.BackupRefused(f"{path} exists. Choose another name.")
        archive.publish(folder / "archive", path)
    return manifest


def _restore(deployment: _Deployment, env: Env, file: Path, *, accept_loss: bool) -> Manifest:
    from storage.cli.backups import archive

    with archive.opened(file) as saved:
        manifest = saved.manifest
        engine = "postgresql" if deployment.sqlite_file is None else "sqlite"
        if manifest.engine != engine:
            raise archive.BackupRefused(
                f"{file} is a backup of {manifest.engine}, and DATABASE_URL names {engine}."
            )
        if not is_known(manifest.migration):
            raise archive.BackupRefused(
                f"{file} has the migration {manifest.migration}, which this version does not "
                "know: restore it with a newer version of Hiatus, which has that migration."
            )
        new_keys = _keys_to_write(deployment, saved, accept_loss=accept_loss)
        if deployment.sqlite_file is not None:
            _restore_sqlite(deployment, deployment.sqlite_file, saved, new_keys)
        else:
            _restore_postgresql(deployment, env, saved, new_keys)
    return manifest


def _restore_sqlite(
    deployment: _Deployment, path: Path, saved: Archive, new_keys: bytes | None
) -> None:
    from storage.cli.backups import archive, sqlite_backup

    with archive.partial_folder(path) as folder:
        sqlite_backup.require_replaceable(path)
        database = folder / "database"
        with archive.new_file(database) as copy:
            copy.writelines(saved.database())
        cure = "Hiatus did not make it. Use another archive. Nothing was changed."
        if sqlite_backup.contents(database, cure) != saved.manifest.contents:
            raise archive.BackupRefused(
                f"{_OTHER_MANIFEST} Use another archive. Nothing was changed."
            )
        # Another process may have opened or filled it meanwhile.
        sqlite_backup.require_replaceable(path)
        _write_keys(deployment, new_keys)
        archive.publish(database, path)


def _restore_postgresql(
    deployment: _Deployment, env: Env, saved: Archive, new_keys: bytes | None
) -> None:
    from storage.cli.backups import postgresql_backup
    from storage.cli.backups.archive import BackupRefused

    url, timeout_seconds = deployment.url, deployment.timeout_seconds
    postgresql_backup.require_empty(url, timeout_seconds, env, saved.manifest.tool)
    _write_keys(deployment, new_keys)
    restored = postgresql_backup.restore(url, timeout_seconds, env, saved.database())
    if restored != saved.manifest.contents:
        raise BackupRefused(
            f"{_OTHER_MANIFEST} The database was restored: drop it, and use another archive."
        )


def _keys_to_write(deployment: _Deployment, saved: Archive, *, accept_loss: bool) -> bytes | None:
    """The keys for the key file; None if those that are there fit. Raises BackupRefused."""
    from storage.cli.backups.archive import BackupRefused

    keys = deployment.keys()
    if not keys and saved.keys is not None and deployment.key_file is not None:
        saved_keys = split_keys(saved.keys.decode(errors="replace"))
        if saved_keys and (accept_loss or _reads(",".join(saved_keys), saved.manifest.canaries)):
            return ",".join(saved_keys).encode()
        if not accept_loss:
            raise BackupRefused(
                "The secret keys in the archive cannot decrypt the secrets in it. Set "
                "HIATUS_SECRET_KEYS to those of the time of the backup, or use --accept-loss if "
                "they are lost for good. Nothing was changed."
            )
    if accept_loss or _reads(keys, saved.manifest.canaries):
        return None
    if not keys and saved.keys is not None:
        raise BackupRefused(
            "The archive has secret keys. Set HIATUS_SECRET_KEYS_FILE to the file in which to "
            "restore them."
        )
    if not keys:
        raise BackupRefused(
            "The archive has no secret keys. Set HIATUS_SECRET_KEYS to those of the time of the "
            "backup, or use --accept-loss if they are lost for good."
        )
    where = "HIATUS_SECRET_KEYS" if deployment.key_file is None else str(deployment.key_file)
    cure = "set the keys of the time of the backup"
    if saved.keys is not None:
        cure = "remove it from the environment" if deployment.key_file is None else "move it away"
        cure += " to restore the keys of the archive"
    raise BackupRefused(
        f"{where} has other secret keys than the archive needs: {cure}, or use --accept-loss if "
        "they are lost for good. Nothing was changed."
    )


def _write_keys(deployment: _Deployment, keys: bytes | None) -> None:
    from storage.cli.backups import archive

    if keys is None or deployment.key_file is None:
        return
    path = deployment.key_file.absolute()
    with archive.partial_folder(path) as folder:
        with archive.new_file(folder / "keys") as file:
            file.write(keys + b"\n")
        archive.publish(folder / "keys", path)


def _reads(keys: str, canaries: tuple[str, ...]) -> bool:
    """Whether the keys decrypt all of these texts."""
    known = split_keys(keys)
    if not known:
        return not canaries
    secrets = Secrets(known)
    return all(stored_secrets.is_readable(secrets, text) for text in canaries)


def _where_keys_are(deployment: _Deployment) -> str:
    if deployment.key_file is not None:
        return f"The secret keys are not in it, because {deployment.key_file} is missing."
    return (
        "The secret keys are not in it, because they come from the setting HIATUS_SECRET_KEYS. "
        "Save that setting in another place: without it, webhook secrets, calendar links and "
        "Slack tokens are lost."
    )


@contextmanager
def _errors_on_stderr() -> Iterator[None]:
    from storage.cli.backups.archive import BackupRefused

    with console.errors_on_stderr():
        try:
            yield
        except BackupRefused as error:
            # It may quote an archive, a database or a program.
            console.fail(texts.printable(str(error)))
        except OSError as error:
            console.fail(f"{error.filename or 'The disk'}: {error.strerror}.")
