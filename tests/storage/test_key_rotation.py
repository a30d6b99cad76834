"""Secret keys: their rotation, and the check at the start that they fit the database."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from storage.base.errors import SecretKeysUnusable
from storage.base.secrets import InvalidToken, Secrets, new_secret_key
from storage.base.settings import replace_keys
from storage.db.engines import open_database
from storage.keys.stored_secrets import check_keys, reencrypt
from storage.operations.commands import build_app
from storage.webhooks import webhooks
from tests import outside
from tests.builders import (
    NOW,
    Acme,
    an_organisation,
    find_personal_token,
    personal_token,
    signing_secrets,
)
from tests.refusals import at_once

ROOT = Path(__file__).parents[2]

# Encrypts one secret in each transaction, and stops after two as if it hung.
_REENCRYPT_TWO = """
import sys, time
from storage.keys.stored_secrets import reencrypt
from storage.base.secrets import Secrets
from storage.db.engines import open_database
done = []
def stop_after_two(count):
    done.append(count)
    if len(done) == 2:
        print("two", flush=True)
        time.sleep(600)
database = open_database(sys.argv[1], Secrets(sys.argv[2:]))
reencrypt(database, batch=1, on_read=stop_after_two)
"""


class Installation:
    """A database with webhooks, whose commands find their keys in ``env``."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.env = {"DATABASE_URL": url}
        with closing(open_database(url, Secrets([key]))) as database:
            self.acme: Acme = an_organisation(database)
            self.secrets: dict[str, str] = {}
            for number in range(5):
                webhook, secret = database.write_now(
                    webhooks.create,
                    f"https://example.com/{number}",
                    ["*"],
                    by=self.acme.caller,
                    now=NOW,
                )
                self.secrets[webhook.id] = secret

    def rotate(self, *options: str) -> Result:
        return CliRunner().invoke(build_app(self.env, lambda: NOW), ["secrets", "rotate", *options])

    def readable_with(self, *keys: str) -> int:
        """How many of the webhooks' secrets these keys decrypt to what they were."""
        count = 0
        with closing(open_database(self.url, Secrets(keys))) as database:
            for webhook_id, secret in self.secrets.items():
                try:
                    stored = database.read_now(signing_secrets, self.acme.id, webhook_id, now=NOW)
                except InvalidToken:
                    continue
                count += stored == [secret]
        return count


def test_a_key_file_gets_a_new_key_that_replaces_the_old_one_in_three_steps(
    sqlite_url: str, tmp_path: Path
) -> None:
    key_file, old = tmp_path / "hiatus.db.key", new_secret_key()
    key_file.write_text(f"{old}\n")
    installation = Installation(sqlite_url, old)

    added = installation.rotate()

    new, *others = key_file.read_text().strip().split(",")
    assert (added.exit_code, others, new != old) == (0, [old], True)
    assert "Restart every process" in added.stdout
    assert new not in added.output
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert installation.readable_with(new) == 0

    encrypted = installation.rotate()

    assert encrypted.stdout.startswith("Encrypted 5 stored secrets with the first key.")
    assert encrypted.stderr == ""
    assert key_file.read_text() == f"{new},{old}\n"
    assert installation.readable_with(new) == 5

    dropped = installation.rotate("--drop-old-keys")

    assert dropped.exit_code == 0
    assert key_file.read_text() == f"{new}\n"
    assert sorted(path.name for path in tmp_path.glob("*.key*")) == ["hiatus.db.key"]


def test_old_keys_are_not_dropped_before_everything_is_encrypted_with_the_new_one(
    sqlite_url: str, tmp_path: Path
) -> None:
    key_file, old = tmp_path / "hiatus.db.key", new_secret_key()
    key_file.write_text(f"{old}\n")
    installation = Installation(sqlite_url, old)
    installation.rotate()
    both = key_file.read_text()

    refused = installation.rotate("--drop-old-keys")

    assert refused.exit_code == 1
    assert "run `hiatus secrets rotate` first" in refused.stderr
    assert key_file.read_text() == both


def test_keys_in_the_setting_are_replaced_by_the_operator(database_url: str) -> None:
    old = new_secret_key()
    installation = Installation(database_url, old)
    installation.env["HIATUS_SECRET_KEYS"] = old

    added = installation.rotate()

    new = added.stdout.splitlines()[0].rpartition(" ")[2]
    assert installation.readable_with(old) == 5
    installation.env["HIATUS_SECRET_KEYS"] = f"{new},{old}"
    assert installation.rotate().exit_code == 0
    assert installation.readable_with(new) == 5
    dropped = installation.rotate("--drop-old-keys")
    assert "Remove all keys but the first from HIATUS_SECRET_KEYS" in dropped.stdout


def test_a_rotation_that_was_killed_is_continued_by_the_next_run(database_url: str) -> None:
    old, new = new_secret_key(), new_secret_key()
    installation = Installation(database_url, old)
    installation.env["HIATUS_SECRET_KEYS"] = f"{new},{old}"
    with subprocess.Popen(
        [sys.executable, "-c", _REENCRYPT_TWO, database_url, new, old],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"two\n"
        process.kill()

    assert installation.readable_with(new) == 2
    assert installation.readable_with(new, old) == 5
    assert installation.rotate("--drop-old-keys").exit_code == 1

    assert installation.rotate().stdout.startswith("Encrypted 3 stored secrets")
    assert installation.readable_with(new) == 5


def test_a_key_file_that_was_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db.key"
    new, old, newer = new_secret_key(), new_secret_key(), new_secret_key()
    path.write_text(f"{newer},{old}\n")

    assert not replace_keys(path, [old], [new, old])
    assert path.read_text() == f"{newer},{old}\n"


def test_a_key_file_is_replaced_despite_what_a_crash_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db.key"
    new, old = new_secret_key(), new_secret_key()
    path.write_text(f"{old}\n")
    (tmp_path / "hiatus.db.key.new").write_text(new[:10])

    assert replace_keys(path, [old], [new, old])
    assert path.read_text() == f"{new},{old}\n"


def test_a_key_file_in_a_folder_that_is_gone_raises_the_systems_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        replace_keys(tmp_path / "missing" / "hiatus.db.key", ["old"], ["new"])


KEY, OTHER = new_secret_key(), new_secret_key()


def started(url: str, *keys: str) -> None:
    """The check of every start."""
    with closing(open_database(url, Secrets(keys))) as database:
        check_keys(database)


def with_a_webhook(url: str, *keys: str) -> tuple[Acme, str, str]:
    """A database with an encrypted secret and no canary, as older versions left them."""
    with closing(open_database(url, Secrets(keys))) as database:
        acme = an_organisation(database)
        webhook, secret = database.write_now(
            webhooks.create, "https://example.com/hook", ["*"], by=acme.caller, now=NOW
        )
    return acme, webhook.id, secret


def secrets_of(url: str, acme: Acme, webhook_id: str, *keys: str) -> list[str]:
    with closing(open_database(url, Secrets(keys))) as database:
        return database.read_now(signing_secrets, acme.id, webhook_id, now=NOW)


def test_a_start_with_other_keys_than_the_first_start_is_refused(database_url: str) -> None:
    started(database_url, KEY)
    started(database_url, KEY)

    with pytest.raises(SecretKeysUnusable, match=r"HIATUS_SECRET_KEYS.*last used with"):
        started(database_url, OTHER)


def test_a_database_without_a_canary_is_judged_by_the_secrets_that_it_keeps(
    database_url: str,
) -> None:
    with_a_webhook(database_url, KEY)

    with pytest.raises(SecretKeysUnusable):
        started(database_url, OTHER)
    started(database_url, KEY)


def test_a_new_key_in_front_is_taken_and_the_old_one_may_not_be_dropped_yet(
    database_url: str,
) -> None:
    with_a_webhook(database_url, KEY)
    started(database_url, KEY)
    started(database_url, OTHER, KEY)

    with pytest.raises(SecretKeysUnusable):
        started(database_url, KEY)
    with pytest.raises(SecretKeysUnusable):
        started(database_url, OTHER)
    started(database_url, KEY, OTHER)


def test_after_reencrypting_the_old_key_may_be_dropped(database_url: str) -> None:
    acme, webhook_id, secret = with_a_webhook(database_url, KEY)
    with closing(open_database(database_url, Secrets([KEY]))) as database:
        token = database.write_now(personal_token, by=acme.caller, now=NOW)
        database.write_now(webhooks.rotate_secret, webhook_id, by=acme.caller, now=NOW)
    started(database_url, KEY)

    with closing(open_database(database_url, Secrets([OTHER, KEY]))) as database:
        done = reencrypt(database)
        again = reencrypt(database)

    assert (done.changed, done.unreadable, done.is_complete) == (3, {}, True)
    assert again.changed == 0
    started(database_url, OTHER)
    assert secrets_of(database_url, acme, webhook_id, OTHER)[1] == secret
    with closing(open_database(database_url, Secrets([OTHER]))) as database:
        assert database.read_now(find_personal_token, by=acme.caller) == token


def test_reencrypting_goes_through_more_than_one_batch(database_url: str) -> None:
    there = [with_a_webhook(database_url, KEY) for _ in range(5)]

    with closing(open_database(database_url, Secrets([OTHER, KEY]))) as database:
        assert reencrypt(database, batch=2).changed == 5

    for acme, webhook_id, secret in there:
        assert secrets_of(database_url, acme, webhook_id, OTHER) == [secret]


def test_lost_keys_are_given_up_only_when_the_operator_says_so(database_url: str) -> None:
    acme, webhook_id, _ = with_a_webhook(database_url, KEY)
    started(database_url, KEY)

    with closing(open_database(database_url, Secrets([OTHER]))) as database:
        refused = reencrypt(database)
        assert (refused.is_complete, refused.unreadable) == (False, {"webhook": 1})
        with pytest.raises(SecretKeysUnusable):
            check_keys(database)

        assert reencrypt(database, accept_loss=True).is_complete

    started(database_url, OTHER)
    with pytest.raises(InvalidToken):
        secrets_of(database_url, acme, webhook_id, OTHER)


def test_a_secret_rotated_after_its_key_was_lost_signs_alone(database_url: str) -> None:
    acme, webhook_id, _ = with_a_webhook(database_url, KEY)

    with closing(open_database(database_url, Secrets([OTHER]))) as database:
        _, secret = database.write_now(webhooks.rotate_secret, webhook_id, by=acme.caller, now=NOW)

    assert secrets_of(database_url, acme, webhook_id, OTHER) == [secret]


@pytest.mark.parametrize("is_same_key", [True, False])
def test_of_two_first_starts_at_once_only_one_decides_on_the_key(
    database_url: str, is_same_key: bool
) -> None:
    results: list[str] = []

    def start(key: str) -> None:
        try:
            started(database_url, key)
            results.append("started")
        except SecretKeysUnusable:
            results.append("refused")

    at_once(lambda: start(KEY), lambda: start(KEY if is_same_key else OTHER))

    assert sorted(results) == (["started"] * 2 if is_same_key else ["refused", "started"])
    assert outside.rows(database_url, "SELECT number FROM secret_canaries") == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("command", ["serve", "bot", "keys list"])
def test_a_process_with_wrong_keys_ends_with_one_sentence(database_url: str, command: str) -> None:
    started(database_url, KEY)

    ended = subprocess.run(
        [sys.executable, "serve.py", *command.split()],
        cwd=ROOT,
        env={
            "DATABASE_URL": database_url,
            "HIATUS_SECRET_KEYS": OTHER,
            "HIATUS_SLACK_APP_TOKEN": "xapp-1",
            "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=90,
    )

    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr.count("\n") == 1
    assert "HIATUS_SECRET_KEYS" in ended.stderr
    assert OTHER not in ended.stderr


def test_a_generated_key_is_new_and_encrypts() -> None:
    first, second = (
        CliRunner().invoke(build_app({}, lambda: NOW), ["secrets", "generate"]) for _ in range(2)
    )

    assert (first.exit_code, first.stderr) == (0, "")
    secrets = Secrets([first.stdout.strip()])
    assert secrets.decrypt(secrets.encrypt("hunter2")) == "hunter2"
    assert first.stdout != second.stdout
