"""Concurrent installations in one workspace."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from typing import Any

from storage.admin import organisations
from storage.admin.organisations import NewOrganisation
from storage.base.secrets import Secrets
from storage.base.values import Organisation
from storage.db.compiled import Compiled
from storage.db.database import Transaction
from storage.db.engines import open_database
from storage.workspaces import slack_installations
from storage.workspaces.slack_installations import Installed
from tests.builders import NOW, a_slack_installation, a_slack_profile

INA = a_slack_profile("ina@umbrella.example", slack_user_id="UINA", first_name="Ina")
FIRST = a_slack_installation(INA, team_id="T2", team_name="Umbrella", bot_token="xoxb-1")


class Paused:
    """A transaction that pauses before it reads its first list."""

    def __init__(self, tx: Transaction, pause: Callable[[], object]) -> None:
        self._tx = tx
        self._pause: Callable[[], object] | None = pause

    def all(self, query: Compiled[...], **params: Any) -> Any:
        pause, self._pause = self._pause, None
        if pause is not None:
            pause()
        return self._tx.all(query, **params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


def umbrella(tx: Transaction) -> Organisation:
    new = NewOrganisation(
        name="Umbrella",
        country_code="DE",
        timezone="Europe/Berlin",
        owner_email="ina@umbrella.example",
        owner_first_name="Ina",
        owner_last_name="Owner",
        domain="umbrella.example",
    )
    return organisations.create(tx, new, source="cli", now=NOW)[0]


def test_of_two_concurrent_installations_one_links_and_the_other_renews(postgres_url: str) -> None:
    with (
        closing(open_database(postgres_url, Secrets.generate())) as database,
        ThreadPoolExecutor(1) as other,
    ):
        organisation = database.write_now(umbrella)
        second = replace(FIRST, bot_token="xoxb-2")
        overtaking: list[Future[Installed]] = []

        def overtake() -> None:
            overtaking.append(
                other.submit(database.write_now, slack_installations.install, second, now=NOW)
            )
            # It either commits now or waits for this transaction.
            wait(overtaking, timeout=1)

        def install(tx: Transaction) -> Installed:
            paused: Any = Paused(tx, overtake)
            return slack_installations.install(paused, FIRST, now=NOW)

        kinds = [database.write_now(install).kind, overtaking[0].result().kind]

        installation = database.read_now(slack_installations.find, "T2")
        assert kinds == ["linked", "renewed"]
        assert installation is not None
        assert (installation.organisation_id, installation.bot_token) == (organisation.id, "xoxb-2")
