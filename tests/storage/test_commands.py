"""The operators' commands: their output and exit codes."""

from __future__ import annotations

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from storage.admin import organisations, people_status
from storage.base.errors import Unauthenticated
from storage.base.secrets import new_secret_key
from storage.base.settings import StorageSettings
from storage.base.values import SCOPES, Caller
from storage.db.database import Database
from storage.db.engines import open_database
from storage.keys import authentication
from storage.operations import commands
from storage.operations.commands import build_app
from storage.operations.console import operator
from storage.people import people_lists, people_rows
from storage.webhooks import webhooks
from tests import outside
from tests.builders import NOW

ACME = [
    "init",
    "--name=Acme",
    "--country=GB",
    "--timezone=Europe/London",
    "--owner-email=ada@example.com",
    "--owner-name=Ada King Lovelace",
]


def _app(env: dict[str, str]) -> click.Group:
    app = build_app(env, lambda: NOW)
    commands.add_slack(app, env, lambda: NOW)
    return app


class Shell:
    """Runs commands over one SQLite file."""

    def __init__(self, folder: Path) -> None:
        self.env = {"DATABASE_URL": f"sqlite:///{folder}/hiatus.db"}

    def run(self, *words: str) -> Result:
        result = CliRunner().invoke(_app(self.env), list(words))
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result

    def json_of(self, *words: str) -> Any:
        result = self.run(*words, "--json")
        assert result.exit_code == 0, result.stderr
        assert result.stdout.count("\n") == 1
        return json.loads(result.stdout)

    def authenticated(self, key: str, now: datetime = NOW) -> Caller:
        authenticated: authentication.Authenticated = self.read(
            authentication.authenticate, key, now=now
        )
        return authenticated.caller

    def read(self, use_case: Any, *args: Any, **kwargs: Any) -> Any:
        with closing(self.database()) as database:
            return database.read_now(use_case, *args, **kwargs)

    def write(self, use_case: Any, *args: Any, **kwargs: Any) -> Any:
        with closing(self.database()) as database:
            return database.write_now(use_case, *args, **kwargs)

    def database(self) -> Database:
        settings = StorageSettings.from_env(self.env)
        return open_database(settings.database_url, settings.secrets())


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """An empty database with a schema."""
    shell = Shell(tmp_path)
    assert shell.run("migrate").exit_code == 0
    return shell


def refused(result: Result, *parts: str) -> None:
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert [part for part in parts if part not in result.stderr] == []


def test_init_prints_one_object_whose_key_works(shell: Shell) -> None:
    identifiers = shell.json_of(*ACME)

    caller = shell.authenticated(identifiers["api_key"])
    owner = shell.read(people_rows.get, identifiers["user_id"], by=caller)
    assert set(identifiers) == {"organisation_id", "user_id", "api_key"}
    assert (caller.organisation_id, caller.user_id) == (
        identifiers["organisation_id"],
        identifiers["user_id"],
    )
    assert (caller.role, caller.scopes) == ("owner", frozenset(SCOPES))
    assert (owner.first_name, owner.last_name, owner.status) == ("Ada", "King Lovelace", "active")


def test_init_prints_the_key_for_people_too(shell: Shell) -> None:
    result = shell.run(*ACME)

    assert result.exit_code == 0
    assert shell.authenticated(result.stdout.split()[-1]).role == "owner"


@pytest.mark.parametrize(
    ("country", "note", "method"),
    [
        (
            "GB-ENG",
            "by the months that have started, for leavers by days, rounded up to half days.",
            "months_started",
        ),
        (
            "DE-BY",
            "by full months, rounded to the nearest day; the whole year's after 6 months; the "
            "whole year's for people who leave in its second half.",
            "full_months",
        ),
        ("FR", None, "days"),
    ],
)
def test_init_sets_what_is_usual_in_the_country_for_part_of_a_year(
    shell: Shell, country: str, note: str | None, method: str
) -> None:
    result = shell.run(*ACME, f"--country={country}")

    prefix = f"Allowance for part of a year (usual in {country[:2]}): "
    assert (f"{prefix}{note}" in result.stdout) == (note is not None)
    assert ("Allowance for part" in result.stdout) == (note is not None)
    created = shell.read(organisations.by_slug, "acme")
    assert created.pro_rata == method
    assert [rule.valid_from for rule in created.pro_rata_rules] == [None] * bool(note)


def test_init_says_that_a_country_has_regions(shell: Shell) -> None:
    whole = shell.run(*ACME, "--json")
    region = shell.run(*ACME, "--another", "--country=GB-ENG")
    without = shell.run(*ACME, "--another", "--country=SI")

    assert whole.exit_code == region.exit_code == without.exit_code == 0
    assert whole.stdout.count("\n") == 1
    assert whole.stderr.startswith(
        "GB counts national holidays only. Its regions have holidays of their own: "
        "GB-ENG (England), GB-NIR (Northern Ireland), GB-SCT (Scotland), GB-WLS (Wales). To count "
    )
    assert region.stderr == without.stderr == ""


@pytest.mark.parametrize("name", ["Acme", "  ACME ", "ＡＣＭＥ"])
def test_a_second_init_of_a_name_asks_for_another(shell: Shell, name: str) -> None:
    shell.json_of(*ACME)

    for options in ([], ["--json"]):
        second = shell.run(*ACME, f"--name={name}", *options)
        refused(
            second,
            f"There is an organisation called {name.strip()} already (acme).",
            "Use --another",
        )

    assert shell.read(organisations.count) == 1
    shell.json_of(*ACME, f"--name={name}", "--another")
    assert shell.read(organisations.count) == 2


def test_organisations_are_listed_with_their_people(shell: Shell) -> None:
    acme = shell.json_of(*ACME)["organisation_id"]
    other = shell.json_of(*ACME, "--name=Globex Ärzte")["organisation_id"]

    listed = shell.json_of("organisations", "list")
    printed = shell.run("organisations", "list")

    assert sorted(listed["data"], key=lambda each: each["slug"]) == [
        {"id": id, "slug": slug, "name": name, "people": 1, "created_at": "2026-06-01T09:00:00Z"}
        for id, slug, name in ((acme, "acme", "Acme"), (other, "globex-arzte", "Globex Ärzte"))
    ]
    assert sorted(printed.stdout.splitlines()) == [
        f"acme  Acme  {acme}  1 person  2026-06-01",
        f"globex-arzte  Globex Ärzte  {other}  1 person  2026-06-01",
    ]


def test_init_on_an_empty_database_names_the_cure(tmp_path: Path) -> None:
    refused(Shell(tmp_path).run(*ACME, "--json"), "hiatus migrate")


@pytest.mark.parametrize(
    "option", ["--country=XX", "--timezone=Nowhere", "--owner-email=ada", "--name= "]
)
def test_init_refuses_invalid_values_and_stores_nothing(shell: Shell, option: str) -> None:
    refused(shell.run(*ACME, option))

    assert shell.read(organisations.count) == 0


def test_init_wants_two_names_of_the_owner(shell: Shell) -> None:
    assert shell.run(*ACME, "--owner-name=Ada").exit_code == 2


def test_migrating_twice_is_fine(shell: Shell) -> None:
    assert shell.run("migrate").stdout == "The schema is up to date.\n"


def test_migrating_the_database_of_a_newer_version_changes_nothing(
    shell: Shell, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/hiatus.db"
    newer = (
        "INSERT INTO schema_migration (name, applied, compatible_from) "
        "VALUES ('9999_later', '2030-01-01 00:00:00', {})"
    )
    outside.run(url, newer.format(1))
    done = shell.run("migrate")
    assert (done.exit_code, "9999_later of a newer version" in done.stdout) == (0, True)

    outside.run(url, "DELETE FROM schema_migration WHERE name = '9999_later'")
    outside.run(url, newer.format(9999))
    refused(shell.run("migrate"), "run a newer version of Hiatus")


def test_a_key_has_every_scope_unless_some_are_named(shell: Shell) -> None:
    shell.json_of(*ACME)
    create = ["keys", "create", "--email=ADA@example.com", "--name=ci"]

    whole = shell.json_of(*create)
    narrow = shell.json_of(*create, "--scope=leave:read", "--scope=users:read", "--variant=2")

    assert set(whole) == {"id", "api_key"}
    assert shell.authenticated(whole["api_key"]).scopes == frozenset(SCOPES)
    authenticated = shell.authenticated(narrow["api_key"])
    assert (authenticated.scopes, authenticated.variant) == (
        frozenset({"leave:read", "users:read"}),
        2,
    )
    assert authenticated.key_id == narrow["id"]


def test_a_key_works_to_the_end_of_its_last_day(shell: Shell) -> None:
    shell.json_of(*ACME)
    api_key = shell.json_of(
        "keys", "create", "--email=ada@example.com", "--name=ci", "--expires=2026-06-30"
    )
    midnight = datetime(2026, 7, 1, tzinfo=UTC)

    assert (
        shell.authenticated(api_key["api_key"], midnight - timedelta(seconds=1)).key_id
        == api_key["id"]
    )
    with pytest.raises(Unauthenticated):
        shell.authenticated(api_key["api_key"], midnight)


def test_keys_are_listed_and_revoked(shell: Shell) -> None:
    first = shell.json_of(*ACME)
    api_key = shell.json_of("keys", "create", "--email=ada@example.com", "--name=ci")

    revoked = shell.json_of("keys", "revoke", api_key["id"])

    listed = {key["name"]: key for key in shell.json_of("keys", "list")["data"]}
    assert revoked["id"] == api_key["id"]
    assert listed["ci"]["revoked_at"] == revoked["revoked_at"]
    # As REST writes instants.
    assert listed["ci"]["revoked_at"].endswith("Z")
    assert listed["First key"]["revoked_at"] is None
    assert api_key["api_key"] not in shell.run("keys", "list").stdout
    assert shell.authenticated(first["api_key"]).role == "owner"
    with pytest.raises(Unauthenticated):
        shell.authenticated(api_key["api_key"])


@pytest.mark.parametrize(
    "words",
    [
        ["keys", "create", "--email=unknown@example.com", "--name=ci"],
        ["keys", "create", "--email=ada@example.com", "--name=ci", "--scope=leave:all"],
        ["keys", "create", "--email=ada@example.com", "--name=ci", "--expires=2020-01-01"],
        ["keys", "list", "--organisation=unknown"],
        ["keys", "revoke", "nothing"],
    ],
    ids=lambda words: " ".join(words[-2:]),
)
def test_a_failed_command_prints_one_sentence(shell: Shell, words: list[str]) -> None:
    shell.json_of(*ACME)

    refused(shell.run(*words, "--json"))


def test_before_init_there_is_no_user_for_a_key(shell: Shell) -> None:
    refused(shell.run("keys", "create", "--email=a@example.com", "--name=ci"), "hiatus init")


def test_with_several_organisations_one_has_to_be_named(shell: Shell) -> None:
    shell.json_of(*ACME)
    other = shell.json_of(*ACME, "--name=Other")
    create = ["keys", "create", "--email=ada@example.com", "--name=ci"]

    refused(shell.run(*create), "--organisation")
    api_key = shell.json_of(*create, "--organisation=other")

    assert shell.authenticated(api_key["api_key"]).organisation_id == other["organisation_id"]


@pytest.mark.parametrize(
    "words",
    [
        ["keys", "create", "--name=ci"],
        ["keys", "create", "--email=a@b.cd", "--name=ci", "--variant=3"],
        ["keys", "create", "--email=a@b.cd", "--name=ci", "--expires=tomorrow"],
        ["keys", "revoke"],
        ["init", "--nonsense"],
        ["nonsense"],
    ],
    ids=lambda words: " ".join(words),
)
def test_wrong_usage_exits_with_two_and_says_so_on_stderr(shell: Shell, words: list[str]) -> None:
    result = shell.run(*words)

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


def test_every_wrong_setting_is_named(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.env = {"DATABASE_URL": "postgresql://127.0.0.1/none"}

    refused(shell.run("keys", "list", "--json"), "HIATUS_SECRET_KEYS")


def test_a_database_that_is_away_is_one_sentence(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    shell.env = {
        "DATABASE_URL": f"postgresql:///none?host={tmp_path}",
        "HIATUS_SECRET_KEYS": "A" * 43 + "=",
    }

    refused(shell.run("migrate"), "The database does not answer")


def test_a_lost_key_file_is_never_replaced_in_silence(shell: Shell, tmp_path: Path) -> None:
    shell.run(*ACME)
    key_file = tmp_path / "hiatus.db.key"
    key = key_file.read_text()
    key_file.unlink()

    refused(shell.run("keys", "list"), "HIATUS_SECRET_KEYS", str(key_file), "restore")
    assert not key_file.exists()

    key_file.write_text(key)
    assert shell.run("keys", "list").exit_code == 0


def test_an_emptied_key_file_is_not_filled_with_another_key(shell: Shell, tmp_path: Path) -> None:
    shell.run(*ACME)
    key_file = tmp_path / "hiatus.db.key"
    key_file.write_text("")

    refused(shell.run("keys", "list"), "HIATUS_SECRET_KEYS", str(key_file))
    assert key_file.read_text() == ""


def test_lost_keys_are_accepted_by_a_command_that_says_what_to_renew(shell: Shell) -> None:
    shell.env["HIATUS_SECRET_KEYS"] = new_secret_key()
    shell.run(*ACME)
    by = operator(shell.read(organisations.by_slug, "acme"))
    shell.write(webhooks.create, "https://example.com/hook", ["*"], by=by, now=NOW)
    shell.env["HIATUS_SECRET_KEYS"] = new_secret_key()

    without_key = shell.run("secrets", "reencrypt")
    done = shell.run("secrets", "reencrypt", "--accept-loss")

    assert (without_key.exit_code, "A key is missing" in without_key.stderr) == (1, True)
    assert (done.exit_code, "1 (webhook)" in done.stdout) == (0, True)
    assert shell.run("keys", "list").exit_code == 0


def test_an_archived_person_is_exported_and_erased(shell: Shell, tmp_path: Path) -> None:
    shell.run(*ACME)
    (tmp_path / "people.csv").write_text("email,first_name,last_name\nbo@example.com,Bo,Lind\n")
    assert shell.run("import", str(tmp_path / "people.csv"), "--organisation=acme").exit_code == 0
    by = operator(shell.read(organisations.by_slug, "acme"))
    (bo,) = [each for each in shell.read(people_lists.list_all, by=by) if each.first_name == "Bo"]
    erase = ("people", "erase", "bo@example.com", "--organisation=acme")

    kept = shell.run("people", "export", "bo@example.com", "--organisation=acme").stdout
    refused(shell.run(*erase, "--confirm=bo@example.com"), "archived")
    shell.write(people_status.archive, bo.id, by=by, now=NOW)
    refused(shell.run(*erase, "--confirm=someone@example.com"))
    done = shell.run(*erase, "--confirm=bo@example.com")

    assert "bo@example.com" in kept
    assert (done.exit_code, bo.id in done.stdout) == (0, True)
    assert shell.read(people_rows.get, bo.id, by=by).first_name != "Bo"
