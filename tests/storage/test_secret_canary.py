"""Wrong secret keys stop the start; rotated and lost keys have a procedure."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from storage.base.errors import SecretKeysUnusable
from storage.base.secrets import InvalidToken, Secrets, new_secret_key
from storage.db.engines import open_database
from storage.keys.stored_secrets import check_keys, reencrypt
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
