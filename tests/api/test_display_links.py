"""Display links: the wallchart as a screen in the kitchen and a wiki fetch it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from html import unescape
from pathlib import Path

import httpx
import pytest

from api.base.settings import ApiSettings
from api.service import app
from api.wallchart.wallchart_endpoint import RELOAD_SECONDS
from storage.admin import departments
from storage.base.secrets import Secrets
from storage.base.values import User
from storage.db.database import Database
from storage.db.engines import open_database
from tests.api.conftest import SETTINGS, Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_key,
    a_person,
    a_request,
    an_organisation,
    approved_leave,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]

BROWSER = {"Accept": "text/html"}


@dataclass(kw_only=True)
class Office:
    """``now`` is 3 August 2026, a Monday, in the evening in London and on Tuesday in Auckland."""

    database: Database
    acme: Acme
    ada: User
    client: Client
    key: str
    now: datetime

    def link(self, **settings: object) -> str:
        created = self.client.post(
            "/api/v1/display-links", self.key, json={"name": "Kitchen", **settings}
        )
        assert created.status_code == 201, created.text
        return str(created.json()["url"]).removeprefix(SETTINGS.base_url)


@pytest.fixture
def office(database: Database) -> Iterator[Office]:
    acme = an_organisation(database)
    made: Office

    def clock() -> datetime:
        return made.now

    made = Office(
        database=database,
        acme=acme,
        ada=a_person(database, acme),
        client=Client(app.application(app.routes(database, SETTINGS, clock), SETTINGS)),
        key=a_key(database, acme),
        now=datetime(2026, 8, 3, 18, tzinfo=UTC),
    )
    yield made
    made.client.close()


def days_of(page: httpx.Response) -> list[str]:
    return re.findall(r'<th scope="col" class="[^"]*">.*?<b>(.*?)</b>', page.text)


def test_the_page_shows_five_weeks_from_today_and_reloads_itself(office: Office) -> None:
    approved_leave(
        office.database, office.acme, office.ada, date(2026, 8, 31), end_date=date(2026, 9, 8)
    )

    page = office.client.get(office.link())

    assert page.status_code == 200
    assert "3 Aug – 6 Sept 2026" in page.text.replace("\u2009", " ")
    days = days_of(page)
    assert (days[0], days[-1]) == ("Monday, 3 August 2026, today", "Sunday, 6 September 2026")
    assert len(days) == 35
    assert page.text.count("<b>Annual leave</b>") == 5
    assert page.headers["Refresh"] == str(RELOAD_SECONDS)
    assert page.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "<script" not in page.text
    assert "<nav" not in page.text


def test_the_five_weeks_begin_today_in_the_organisations_time_zone(office: Office) -> None:
    url = office.link()
    changed = office.client.patch(
        "/api/v1/organisation", office.key, json={"timezone": "Pacific/Auckland"}
    )
    assert changed.status_code == 200

    assert days_of(office.client.get(url))[0] == "Tuesday, 4 August 2026, today"


def test_all_private_leave_is_away_and_nothing_is_pending(office: Office) -> None:
    approved_leave(office.database, office.acme, office.ada, date(2026, 8, 4), code="sick")
    # Also of the admin whose key created the link.
    approved_leave(office.database, office.acme, office.acme.owner, date(2026, 8, 5), code="sick")
    a_request(office.database, office.acme, office.ada, start_date=date(2026, 8, 6))
    url = office.link()

    page, picture = office.client.get(url), office.client.get(f"{url}.svg")

    assert page.text.count("<b>Away</b>") == 2
    for shown in (page.text, picture.text):
        assert "Away" in shown
        assert "Sick" not in shown
        assert "pending" not in shown
        assert "you" not in re.findall(r"\w+", shown)


def test_a_department_or_everyone(office: Office) -> None:
    labs = a_department(office.database, office.acme, name="Labs")
    a_person(office.database, office.acme, first_name="Hedy", department_id=labs.id)

    everyone = office.client.get(office.link())
    of_labs = office.client.get(office.link(department_id=labs.id) + "?scope=org&month=2020-01")

    assert "Everyone, 3" in everyone.text
    assert everyone.text.count('<th scope="row">') == 3
    assert "Labs, 3" in of_labs.text
    assert of_labs.text.count('<th scope="row">') == 1


def test_the_pictures_are_for_wikis(office: Office) -> None:
    url = office.link()

    svg, png = office.client.get(f"{url}.svg"), office.client.get(f"{url}.png")

    assert svg.headers["Content-Type"] == "image/svg+xml"
    assert "August" in svg.text
    assert "Refresh" not in svg.headers
    assert png.content.startswith(b"\x89PNG")


def test_an_unchanged_page_is_not_sent_again_until_leave_or_the_day_changes(
    office: Office,
) -> None:
    url = office.link()
    tag = office.client.get(url).headers["ETag"]
    unchanged = office.client.get(url, headers={"If-None-Match": tag})

    approved_leave(office.database, office.acme, office.ada, date(2026, 8, 4))
    changed = office.client.get(url, headers={"If-None-Match": tag})
    office.now += timedelta(days=1)
    tomorrow = office.client.get(url, headers={"If-None-Match": changed.headers["ETag"]})

    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["Refresh"] == str(RELOAD_SECONDS)
    assert (changed.status_code, tomorrow.status_code) == (200, 200)


def test_unknown_and_revoked_links_are_the_same_404(office: Office) -> None:
    labs = a_department(office.database, office.acme)
    of_labs, kitchen = office.link(department_id=labs.id), office.link()
    for link in office.client.get("/api/v1/display-links", office.key).json()["data"]:
        if link["department_id"] is None:
            gone = office.client.delete(f"/api/v1/display-links/{link['id']}", office.key)
            assert gone.status_code == 204
    office.acme.write(departments.delete, labs.id)
    # A feed's token is no display link's, and the other way round.
    token = kitchen.removeprefix("/wallchart/display-")

    answers = [
        office.client.get(url)
        for url in (
            of_labs,
            kitchen,
            f"{kitchen}.png",
            f"/wallchart/display-{'x' * 43}",
            "/wallchart/display-",
            f"/wallchart/{token}",
            f"/wallchart/display-display-{token}",
        )
    ]
    page = office.client.get(kitchen, headers=BROWSER)

    assert {answer.status_code for answer in answers} == {404}
    assert {answer.json()["detail"] for answer in answers} == {"There is no such wallchart."}
    assert (page.status_code, "Refresh" in page.headers) == (404, False)
    assert office.client.get(f"/cal/{kitchen.removeprefix('/wallchart/')}").status_code == 404


def test_a_screen_over_its_limit_reloads_itself_later(office: Office) -> None:
    url = office.link()
    settings = ApiSettings(base_url=SETTINGS.base_url, feed_rate_limit="1/hour")
    client = Client(app.application(app.routes(office.database, settings, lambda: NOW), settings))

    answers = [client.get(url, headers=BROWSER) for _ in range(2)]
    client.close()

    assert [answer.status_code for answer in answers] == [200, 429]
    assert answers[1].headers["Refresh"] == answers[1].headers["Retry-After"]


def test_a_screen_that_finds_the_database_away_tries_again_soon(tmp_path: Path) -> None:
    path = tmp_path / "hiatus.db"
    path.write_bytes(b"no database " * 1_000)
    database = open_database(f"sqlite:///{path}", Secrets.generate())
    client = Client(app.application(app.routes(database, SETTINGS, lambda: NOW), SETTINGS))

    page = client.get(f"/wallchart/display-{'x' * 43}", headers=BROWSER)
    problem = client.get(f"/wallchart/display-{'x' * 43}")
    client.close()
    database.close()

    assert (page.status_code, page.headers["Refresh"]) == (503, "60")
    assert "Hiatus isn't available right now" in unescape(page.text)
    assert (problem.status_code, problem.json()["code"]) == (503, "unavailable")
