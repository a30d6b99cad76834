"""`hiatus backup` and `hiatus restore`: what comes back, and what is refused before any change."""

from __future__ import annotations

import gzip
import hashlib
import io
import sqlite3
import stat
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import orjson
import pytest

from api.base.version import VERSION, commit
from storage.admin import organisations
from storage.base.secrets import Secrets, new_secret_key
from storage.db.engines import open_database
from storage.db.migrations.history import FIRST, LAST_BEFORE
from storage.db.schema import latest_migration
from storage.webhooks import webhooks
from tests import outside
from tests.backups import Place, empty_copy_of
from tests.builders import NOW, Acme, an_organisation, signing_secrets
from tests.storage.test_commands import refused


class Saved:
    """A place with an organisation and a webhook, and its backup."""

    def __init__(self, url: str, folder: Path, keys: str | None = None) -> None:
        self.place = Place(url, folder, keys)
        self.key = keys or new_secret_key()
        if keys is None:
            self.place.key_file.write_text(f"{self.key}\n")
        with closing(open_database(url, Secrets([self.key]))) as database:
            self.acme: Acme = an_organisation(database, now=NOW)
            webhook, self.secret = database.write_now(
                webhooks.create, "https://example.com/", ["*"], by=self.acme.caller, now=NOW
            )
            self.webhook_id = webhook.id
        assert self.place.run("keys", "list").exit_code == 0
        self.file = folder / "saved.tar"
        self.result = self.place.run("backup", self.file)
        assert self.result.exit_code == 0, self.result.output

    def is_in(self, place: Place) -> bool:
        """Whether a place has the organisation, and its keys decrypt the webhook's secret."""
        key = place.env.get("HIATUS_SECRET_KEYS") or place.key_file.read_text().strip()
        with closing(open_database(place.url, Secrets([key]))) as database:
            secrets = database.read_now(signing_secrets, self.acme.id, self.webhook_id, now=NOW)
        return secrets == [self.secret] and place.run("keys", "list").exit_code == 0


@pytest.fixture
def empty_url(database_url: str, tmp_path: Path) -> Iterator[str]:
    with empty_copy_of(database_url, tmp_path / "elsewhere") as url:
        yield url


@pytest.fixture
def saved(sqlite_url: str, tmp_path: Path) -> Saved:
    """A backup of an SQLite database with its key file."""
    return Saved(sqlite_url, tmp_path)


@pytest.fixture
def target(tmp_path: Path) -> Place:
    """Where an SQLite database is to be restored."""
    folder = tmp_path / "target"
    folder.mkdir()
    return Place(f"sqlite:///{folder}/restored.db", folder)


def untouched(place: Place) -> bool:
    return not place.has_tables() and [*place.key_file.parent.iterdir()] == []


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_backup_brings_back_data_and_keys(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    saved = Saved(database_url, tmp_path)
    elsewhere = Place(empty_url, tmp_path / "elsewhere")

    restored = elsewhere.run("restore", saved.file)

    assert restored.exit_code == 0, restored.output
    assert "Start Hiatus." in restored.stdout
    assert "secret keys" in saved.result.stdout
    assert saved.result.stderr == ""
    assert saved.is_in(elsewhere)
    assert elsewhere.key_file.read_text() == saved.place.key_file.read_text()
    assert (mode_of(elsewhere.key_file), mode_of(saved.file)) == (0o600, 0o600)
    if empty_url.startswith("sqlite:"):
        assert mode_of(Path(empty_url.removeprefix("sqlite:///"))) == 0o600
    assert list(tmp_path.rglob("*.partial")) == []


def test_keys_of_the_setting_are_not_in_the_archive_and_the_command_says_so(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    key = new_secret_key()

    saved = Saved(database_url, tmp_path, key)

    assert key.encode() not in saved.file.read_bytes()
    assert "HIATUS_SECRET_KEYS" in saved.result.stderr
    elsewhere = Place(empty_url, tmp_path / "elsewhere", new_secret_key())
    refused(elsewhere.run("restore", saved.file), "HIATUS_SECRET_KEYS", "--accept-loss")
    assert not elsewhere.has_tables()
    elsewhere.env["HIATUS_SECRET_KEYS"] = key
    assert elsewhere.run("restore", saved.file).exit_code == 0
    assert saved.is_in(elsewhere)


def test_data_is_restored_without_its_lost_keys_if_the_operator_accepts_that(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    saved = Saved(database_url, tmp_path, new_secret_key())
    elsewhere = Place(empty_url, tmp_path / "elsewhere", new_secret_key())
    refused(elsewhere.run("restore", saved.file))

    assert elsewhere.run("restore", "--accept-loss", saved.file).exit_code == 0

    assert elsewhere.run("secrets", "reencrypt", "--accept-loss").exit_code == 0
    assert outside.rows(empty_url, "SELECT count(*) FROM organisations") == [(1,)]


def test_a_database_with_data_is_not_replaced(database_url: str, tmp_path: Path) -> None:
    saved = Saved(database_url, tmp_path)
    outside.run(database_url, "UPDATE organisations SET name = 'Newer'")

    refused(saved.place.run("restore", saved.file), "DATABASE_URL")

    assert outside.rows(database_url, "SELECT name FROM organisations") == [("Newer",)]


def test_an_existing_file_is_not_replaced(saved: Saved) -> None:
    before = saved.file.read_bytes()

    refused(saved.place.run("backup", saved.file), str(saved.file), "exists")

    assert saved.file.read_bytes() == before


def test_a_backup_has_what_is_only_in_the_write_ahead_log(saved: Saved, target: Place) -> None:
    with closing(sqlite3.connect(saved.place.url.removeprefix("sqlite:///"))) as open_elsewhere:
        open_elsewhere.execute("UPDATE organisations SET name = 'Newest'")
        open_elsewhere.commit()
        newest = saved.file.with_name("newest.tar")
        assert saved.place.run("backup", newest).exit_code == 0

    assert target.run("restore", newest).exit_code == 0
    assert outside.rows(target.url, "SELECT name FROM organisations") == [("Newest",)]


def test_a_migrated_sqlite_database_without_organisations_is_replaced(
    saved: Saved, target: Place
) -> None:
    target.env["HIATUS_SECRET_KEYS"] = saved.key
    assert target.run("migrate").exit_code == 0

    assert target.run("restore", saved.file).exit_code == 0
    assert saved.is_in(target)


def test_a_sqlite_database_in_use_is_not_replaced(saved: Saved, target: Place) -> None:
    target.env["HIATUS_SECRET_KEYS"] = saved.key
    target.run("migrate")

    with closing(open_database(target.url, Secrets([saved.key]))) as database:
        assert database.read_now(organisations.count) == 0
        refused(target.run("restore", saved.file), "in use", "Stop Hiatus")

    assert outside.rows(target.url, "SELECT id FROM organisations") == []


def test_a_log_of_a_removed_database_would_be_added_to_the_restored_one(
    saved: Saved, target: Place
) -> None:
    log = Path(f"{target.url.removeprefix('sqlite:///')}-wal")
    log.write_bytes(b"left")

    refused(target.run("restore", saved.file), str(log), "away")

    assert not target.has_tables()


def test_another_key_file_is_never_replaced(saved: Saved, target: Place) -> None:
    other = new_secret_key()
    target.key_file.write_text(other)

    refused(target.run("restore", saved.file), str(target.key_file), "move it away")

    assert (target.key_file.read_text(), target.has_tables()) == (other, False)


def test_an_archive_of_the_other_engine_is_refused(
    saved: Saved, postgres_url: str, tmp_path: Path
) -> None:
    place = Place(postgres_url, tmp_path / "nowhere", new_secret_key())

    refused(place.run("restore", saved.file), "sqlite", "postgresql")


def test_an_archive_of_a_newer_version_is_refused(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    saved = Saved(database_url, tmp_path)
    outside.run(
        database_url,
        f"UPDATE schema_migration SET name = '9999_x' WHERE name = '{latest_migration()}'",
    )
    newer = tmp_path / "newer.tar"
    assert saved.place.run("backup", newer).exit_code == 0
    elsewhere = Place(empty_url, tmp_path / "elsewhere")

    refused(elsewhere.run("restore", newer), "9999_x", "newer")

    assert untouched(elsewhere)


def test_an_archive_of_an_older_version_asks_for_a_migration(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    saved = Saved(database_url, tmp_path)
    outside.run(database_url, f"DELETE FROM schema_migration WHERE name <> '{FIRST}'")
    outside.run(database_url, f"UPDATE schema_migration SET name = '{LAST_BEFORE}'")
    older = tmp_path / "older.tar"
    assert saved.place.run("backup", older).exit_code == 0
    elsewhere = Place(empty_url, tmp_path / "elsewhere")

    assert "`hiatus migrate`" in elsewhere.run("restore", older).stdout


def test_an_archive_that_is_too_old_names_the_way(
    database_url: str, empty_url: str, tmp_path: Path
) -> None:
    saved = Saved(database_url, tmp_path)
    outside.run(database_url, f"DELETE FROM schema_migration WHERE name <> '{FIRST}'")
    outside.run(database_url, "UPDATE schema_migration SET name = '0024_feed_fetches'")
    older = tmp_path / "older.tar"
    assert saved.place.run("backup", older).exit_code == 0
    elsewhere = Place(empty_url, tmp_path / "elsewhere")

    refused(elsewhere.run("restore", older), "0024_feed_fetches", "commit 93fceb48")

    assert untouched(elsewhere)


def test_a_database_without_tables_is_not_saved(empty_url: str, tmp_path: Path) -> None:
    place = Place(empty_url, tmp_path / "elsewhere")
    file = tmp_path / "none.tar"

    refused(place.run("backup", file))

    assert not file.exists()
    assert untouched(place)


def test_a_damaged_database_gives_no_archive(saved: Saved) -> None:
    path = Path(saved.place.url.removeprefix("sqlite:///"))
    slug = saved.acme.organisation.slug.encode()
    content = path.read_bytes()
    assert content.count(slug) > 1, "it is in the table and in an index"
    path.write_bytes(content.replace(slug, slug[::-1], 1))
    another = saved.file.with_name("another.tar")

    refused(saved.place.run("backup", another), "The database is damaged")

    assert [*saved.file.parent.glob("another*")] == []


def members_of(file: Path) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(file) as tar:
        return [(one, (tar.extractfile(one) or io.BytesIO()).read()) for one in tar.getmembers()]


def rewritten(file: Path, members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
    with tarfile.open(file, "w", format=tarfile.GNU_FORMAT) as tar:
        for header, content in members:
            header.size = len(content)
            tar.addfile(header, io.BytesIO(content))


def with_a_path_outside(file: Path) -> None:
    members = members_of(file)
    members[1][0].name = "../../escaped"
    rewritten(file, members)


def with_a_symbolic_link(file: Path) -> None:
    members = members_of(file)
    header = members[2][0]
    header.type, header.linkname = tarfile.SYMTYPE, "/etc/passwd"
    members[2] = (header, b"")
    rewritten(file, members)


def with_another_file_first(file: Path) -> None:
    rewritten(file, [(tarfile.TarInfo("more"), b"more"), *members_of(file)])


def with_a_huge_size(file: Path) -> None:
    content = bytearray(file.read_bytes())
    header = tarfile.TarInfo("manifest.json")
    header.size = 2**60
    content[:512] = header.tobuf(tarfile.GNU_FORMAT)[-512:]
    file.write_bytes(content)


def with_a_database_longer_than_the_file(file: Path) -> None:
    content = file.read_bytes()
    [old] = [header for header, _ in members_of(file) if header.name == "database.sqlite3"]
    at = old.offset
    old.size = 2**40
    file.write_bytes(content[:at] + old.tobuf(tarfile.GNU_FORMAT) + content[at + 512 :])


def with_a_manifest_of_another_form(file: Path) -> None:
    members = members_of(file)
    manifest = orjson.loads(members[0][1]) | {"canaries": None}
    rewritten(file, [(members[0][0], orjson.dumps(manifest)), *members[1:]])


def with_other_keys(file: Path) -> None:
    members = members_of(file)
    rewritten(file, [members[0], (members[1][0], new_secret_key().encode()), members[2]])


def with_a_changed_byte(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def cut_short(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])


def compressed(file: Path) -> None:
    file.write_bytes(gzip.compress(file.read_bytes()))


def emptied(file: Path) -> None:
    file.write_bytes(b"")


@pytest.mark.parametrize(
    "change",
    [
        with_a_path_outside, with_a_symbolic_link, with_another_file_first, with_a_huge_size,
        with_a_database_longer_than_the_file, with_a_manifest_of_another_form,
        with_other_keys, with_a_changed_byte, cut_short, compressed, emptied,
    ],
)  # fmt: skip
def test_an_archive_that_backup_did_not_write_changes_nothing(
    change: object, saved: Saved, target: Place
) -> None:
    assert callable(change)
    change(saved.file)

    refused(target.run("restore", saved.file), str(saved.file), "Nothing was changed")

    assert untouched(target)
    assert not (saved.file.parent.parent / "escaped").exists()


def test_a_file_that_is_missing_is_named(target: Place, tmp_path: Path) -> None:
    refused(target.run("restore", tmp_path / "none.tar"), "none.tar", "No such file")


def test_a_folder_that_is_missing_is_named(saved: Saved, tmp_path: Path) -> None:
    refused(saved.place.run("backup", tmp_path / "none" / "x.tar"), "none", "No such file")


def changed(file: Path, members: Mapping[str, object], keys: bytes | None = None) -> None:
    """Change the manifest and the keys of an archive, with right checksums."""
    parts = {header.name: (header, content) for header, content in members_of(file)}
    manifest = orjson.loads(parts["manifest.json"][1]) | {**members}
    if keys is not None:
        parts["secret-keys"] = (parts["secret-keys"][0], keys)
        manifest["sha256"]["secret-keys"] = hashlib.sha256(keys).hexdigest()
    parts["manifest.json"] = (parts["manifest.json"][0], orjson.dumps(manifest))
    rewritten(file, [*parts.values()])


@pytest.mark.parametrize("is_missing", [False, True])
def test_a_backup_with_keys_that_cannot_read_the_database_is_refused(
    database_url: str, tmp_path: Path, is_missing: bool
) -> None:
    saved = Saved(database_url, tmp_path)
    saved.place.key_file.write_text(new_secret_key())
    if is_missing:
        saved.place.key_file.unlink()
    before = {*tmp_path.iterdir()}
    another = tmp_path / "another.tar"

    refused(saved.place.run("backup", another), "HIATUS_SECRET_KEYS", "--accept-loss")

    assert {*tmp_path.iterdir()} == before
    lost = saved.place.run("backup", "--accept-loss", another)
    assert (lost.exit_code, another.exists()) == (0, True)
    assert "No key decrypts the secrets in it." in lost.stderr


@pytest.mark.parametrize("keys", [b"A" * 43 + b"=", b"\x1b[2J", b"\xff\xfe", b""], ids=range(4))
def test_keys_of_an_archive_that_do_not_read_it_are_not_restored(
    database_url: str, empty_url: str, tmp_path: Path, keys: bytes
) -> None:
    saved = Saved(database_url, tmp_path)
    changed(saved.file, {}, keys)
    elsewhere = Place(empty_url, tmp_path / "elsewhere")

    refused(elsewhere.run("restore", saved.file), "--accept-loss", "Nothing was changed")

    assert untouched(elsewhere)


def a_program(folder: Path, name: str, script: str) -> str:
    """A folder for PATH in which one program is a shell script."""
    folder.mkdir()
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return f"{folder}:/bin:/usr/bin"


def test_a_missing_pg_dump_is_named_with_the_cure(postgres_url: str, tmp_path: Path) -> None:
    place = Place(postgres_url, tmp_path, new_secret_key())
    place.env["PATH"] = str(tmp_path)

    refused(place.run("backup", tmp_path / "x.tar"), "pg_dump", "PATH", "postgresql-client")
    assert [*tmp_path.iterdir()] == []


def test_no_password_is_on_the_command_line(postgres_url: str, tmp_path: Path) -> None:
    place = Place(postgres_url, tmp_path, new_secret_key())
    place.env["DATABASE_URL"] = f"{postgres_url}&password=opensesame"
    real = place.env["PATH"].partition(":")[0]
    seen = tmp_path / "seen"
    spy = f'echo "$@" > {seen}\necho "$PGPASSWORD" >> {seen}\nexec {real}/pg_dump "$@"'
    place.env["PATH"] = a_program(
        tmp_path / "spy", "pg_dump", f'[ "$1" = --version ] && exec {real}/pg_dump "$@"\n{spy}'
    )

    assert place.run("backup", tmp_path / "x.tar").exit_code == 0

    command_line, password = seen.read_text().splitlines()
    assert "opensesame" not in command_line
    assert password == "opensesame"


def test_a_dump_that_fails_half_way_leaves_an_empty_postgresql_database(
    postgres_url: str, tmp_path: Path
) -> None:
    saved = Saved(postgres_url, tmp_path, new_secret_key())
    [(header, text), (dump_header, dump)] = members_of(saved.file)
    manifest, half = orjson.loads(text), dump[: len(dump) // 2]
    manifest["sha256"] = {dump_header.name: hashlib.sha256(half).hexdigest()}
    broken = tmp_path / "broken.tar"
    rewritten(broken, [(header, orjson.dumps(manifest)), (dump_header, half)])
    with empty_copy_of(postgres_url, tmp_path / "elsewhere") as url:
        elsewhere = Place(url, tmp_path, saved.key)

        refused(elsewhere.run("restore", broken), "pg_restore failed", "nothing was changed")

        assert not elsewhere.has_tables()


def test_an_archive_names_the_version_and_the_commit_that_made_it(saved: Saved) -> None:
    with tarfile.open(saved.file) as tar:
        member = tar.extractfile("manifest.json")
        assert member is not None
        manifest = orjson.loads(member.read())

    assert (manifest["version"], manifest["commit"]) == (VERSION, commit())


def test_archives_of_earlier_and_later_versions_are_restored(saved: Saved, target: Place) -> None:
    members = members_of(saved.file)
    manifest = orjson.loads(members[0][1]) | {"later_member": "of a later version"}
    del manifest["commit"]
    rewritten(saved.file, [(members[0][0], orjson.dumps(manifest)), *members[1:]])

    assert target.run("restore", saved.file).exit_code == 0
    assert saved.is_in(target)
