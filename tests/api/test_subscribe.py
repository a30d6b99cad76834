"""Links that open a feed in Apple Calendar."""

from __future__ import annotations

from datetime import timedelta

import pytest

from storage.db.database import Database
from tests.api.conftest import SETTINGS, Client
from tests.builders import NOW, a_person, an_organisation, caller_for, personal_token

pytestmark = pytest.mark.shared_database


@pytest.mark.parametrize("query", ["", "?scope=team", "?scope=org"])
def test_a_browser_is_sent_to_the_feed_with_the_scheme_of_calendars(
    database: Database, client: Client, query: str
) -> None:
    acme = an_organisation(database)
    caller = caller_for(acme, a_person(database, acme))
    token = database.write_now(personal_token, by=caller, now=NOW + timedelta(hours=1))

    response = client.get(f"/cal/{token}/subscribe{query}")

    host = SETTINGS.base_url.partition("://")[2]
    assert response.status_code == 302
    assert response.headers["Location"] == f"webcal://{host}/cal/{token}{query}"
    assert response.headers["Cache-Control"] == "private, no-store"
    assert client.get(f"/cal/{token}{query}").status_code == 200


def test_what_cannot_be_a_token_is_not_found(client: Client) -> None:
    assert client.get("/cal/no%0d%0atoken/subscribe").status_code == 404


def test_an_unknown_scope_is_refused(client: Client) -> None:
    response = client.get(f"/cal/{'a' * 43}/subscribe?scope=planet")

    assert response.status_code == 422
    assert response.json()["errors"][0]["pointer"] == "?scope"
