"""The wallchart as browsers and screens on the wall fetch it."""

from __future__ import annotations

import html
import io
import re
import struct
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.service import app
from api.wallchart import rasteriser
from api.wallchart.chart import ink_on
from api.wallchart.wallchart_texts import TEXTS
from storage.admin import people, people_status
from storage.base.monitoring import REGISTRY
from storage.base.values import User
from storage.calendars import feeds, wallchart
from storage.db.database import Database
from storage.leave import decisions, leave_types
from storage.outbox import organisation_config
from tests.api.conftest import SETTINGS, Client
from tests.builders import (
    NOW,
    Acme,
    a_department,
    a_leave_type,
    a_person,
    a_request,
    an_organisation,
    caller_for,
    home_office,
    personal_token,
    type_id,
)

pytestmark = [pytest.mark.both_engines, pytest.mark.shared_database]


@dataclass(frozen=True, kw_only=True, slots=True)
class Office:
    """Ada and Grace are one team. In August, Ada has annual leave and Grace private leave."""

    database: Database
    acme: Acme
    ada: User
    grace: User
    department_id: str
    client: Client
    token: str

    def get(self, query: str = "?month=2026-08", **more: Any) -> httpx.Response:
        return self.client.get(f"/wallchart/{self.token}{query}", **more)


@pytest.fixture
def office(database: Database) -> Iterator[Office]:
    """The token is Ada's."""
    acme = an_organisation(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(
        database, acme, first_name="Grace", last_name="<Hopper>", department_id=department.id
    )
    a_person(database, acme, first_name="Hedy", last_name="Lamarr")
    for person, code in ((ada, "annual"), (grace, "sick")):
        request = a_request(
            database, acme, person, end_date=date(2026, 8, 6), end_half_day="am", code=code
        )
        if request.status == "pending":
            acme.write(decisions.approve, request.id)
    token = database.write_now(personal_token, by=caller_for(acme, ada), now=NOW)
    client = Client(app.application(app.routes(database, SETTINGS, lambda: NOW), SETTINGS))
    yield Office(
        database=database,
        acme=acme,
        ada=ada,
        grace=grace,
        department_id=department.id,
        client=client,
        token=token,
    )
    client.close()


def of_grace(**fields: object) -> Callable[[Office], object]:
    return lambda office: office.acme.write(people.update, office.grace.id, fields)


def statement_count() -> float:
    return REGISTRY.get_sample_value("hiatus_database_statement_duration_seconds_count") or 0


# Each changes what the organisation's chart shows of August.
CHANGES: dict[str, Callable[[Office], object]] = {
    "a type that no longer counts as away": lambda office: office.acme.write(
        leave_types.update, type_id(office.database, office.acme), {"is_away": False}
    ),
    "a new colleague": lambda office: a_person(
        office.database, office.acme, first_name="New", status="pending"
    ),
    "a new name": of_grace(first_name="Gracie"),
    "the viewer's own last day": lambda office: office.acme.write(
        people.update, office.ada.id, {"end_date": date(2026, 8, 20)}
    ),
    "a shorter week": of_grace(working_days=("monday", "tuesday")),
    "other public holidays": of_grace(public_holiday_country_code="IT"),
    "an archived person": lambda office: office.acme.write(people_status.archive, office.grace.id),
    "a new department": lambda office: a_department(office.database, office.acme, name="Space"),
    "pending leave": lambda office: a_request(
        office.database, office.acme, office.ada, start_date=date(2026, 8, 24)
    ),
}


def names(page: httpx.Response) -> list[str]:
    return re.findall(r'<th scope="row">([A-Z][a-z]+)', page.text)


def test_the_page_shows_the_team_in_the_month(office: Office) -> None:
    page = office.get()

    assert page.status_code == 200
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "August 2026" in page.text
    assert names(page) == ["Ada", "Grace"]
    assert page.text.count('<th scope="col"') == 32
    [row] = re.findall(r'<th scope="row">Ada.*?</tr>', page.text)
    assert row.count("<b>Annual leave</b>") == 3
    assert row.count("<b>Annual leave, morning</b>") == 1


def test_a_private_type_of_others_is_nowhere_in_the_page_and_the_picture(office: Office) -> None:
    page, picture = office.get(), office.client.get(f"/wallchart/{office.token}.svg?month=2026-08")

    for shown in (page.text, picture.text):
        assert "Away" in shown
        assert "Sick" not in shown


@pytest.mark.parametrize("shown", ["?scope=org", ".svg?scope=team", ".svg?scope=org"])
def test_what_is_hung_up_hides_the_owners_private_type_too(office: Office, shown: str) -> None:
    """Everyone's page, and pictures, which are embedded in wikis."""
    config = office.database.read_now(organisation_config.of_organisation, office.acme.id)
    sick = config.leave_types[type_id(office.database, office.acme, "sick")]
    token = office.database.write_now(
        personal_token, by=caller_for(office.acme, office.grace), now=NOW
    )

    answer = office.client.get(f"/wallchart/{token}{shown}&month=2026-08")

    assert "Away" in answer.text
    assert sick.name not in answer.text
    assert sick.colour not in answer.text


def test_the_owners_pending_leave_of_a_private_type_is_away_where_others_look(
    office: Office,
) -> None:
    a_leave_type(office.database, office.acme, code="treatment", name="Treatment", is_private=True)
    a_request(
        office.database, office.acme, office.ada, start_date=date(2026, 9, 7), code="treatment"
    )

    own, everyone = office.get("?month=2026-09"), office.get("?scope=org&month=2026-09")

    assert own.text.count("<b>Treatment (pending)</b>") == 1
    assert everyone.text.count("<b>Away (pending)</b>") == 1
    assert "Treatment" not in everyone.text


def test_work_elsewhere_has_a_mark_of_its_own(office: Office) -> None:
    database, acme = office.database, office.acme
    home_office(database, acme, colour="#123456")
    home_office(database, acme, name="Rehab", code="rehab", is_private=True)
    a_request(database, acme, office.grace, start_date=date(2026, 9, 7), code="home-office")
    a_request(database, acme, office.grace, start_date=date(2026, 9, 8), code="rehab")

    page = office.get("?month=2026-09")
    german = office.get("?month=2026-09", headers={"Accept-Language": "de"})
    picture = office.client.get(f"/wallchart/{office.token}.svg?month=2026-09")

    assert page.text.count("<b>Home office (working)</b>") == 1
    assert page.text.count("<b>Working elsewhere</b>") == 1
    assert page.text.count('<td class="elsewhere leave-') == 2
    assert '<span aria-hidden="true" title="Home office (working)">h</span>' in page.text
    assert "Homeoffice" not in page.text + german.text
    assert "<b>Home office (arbeitet)</b>" in german.text
    assert "<b>An anderem Ort tätig</b>" in german.text
    assert "Rehab" not in page.text + german.text + picture.text
    # A bar at the bottom of the cell, in the chart and in the legend.
    assert picture.text.count('height="6" fill="#123456"') == 2


def test_names_are_escaped(office: Office) -> None:
    picture = office.client.get(f"/wallchart/{office.token}.svg?month=2026-08")

    assert "<Hopper>" not in office.get().text
    assert "Grace &lt;Hopper&gt;" in office.get().text
    ET.fromstring(picture.text)


def test_everyone_and_one_department(office: Office) -> None:
    everyone = office.get("?scope=org&month=2026-08")
    department = office.get(f"?scope=org&department_id={office.department_id}")

    assert names(everyone) == ["Ada", "Grace", "Hedy", "Olive"]
    assert names(department) == ["Ada", "Grace"]
    # The form sends an empty text for all departments.
    assert len(names(office.get("?scope=org&department_id="))) == 4


def test_this_month_is_the_default_and_today_is_marked(office: Office) -> None:
    page = office.get("")

    assert "June 2026" in page.text
    assert "<b>Monday 1, today</b>" in page.text
    assert "today</b>" not in office.get().text


@pytest.mark.parametrize(
    ("query", "parameter", "code"),
    [
        ("scope=personal", "scope", "not_one_of"),
        ("month=2025-05", "month", "out_of_range"),
        ("month=2028-07", "month", "out_of_range"),
        ("month=2026-13", "month", "invalid_value"),
        ("month=26-1", "month", "invalid_value"),
        ("month=", "month", "invalid_value"),
        ("page=0", "page", "out_of_range"),
        ("page=x", "page", "out_of_range"),
        ("scope=org&department_id=x", "department_id", "invalid_value"),
        (
            "scope=org&department_id=019e8269-4e80-70b6-9a4e-f06d9247ae54",
            "department_id",
            "invalid_value",
        ),
        ("department_id=019e8269-4e80-70b6-9a4e-f06d9247ae54", "department_id", "invalid_value"),
    ],
)
def test_other_values_are_refused(office: Office, query: str, parameter: str, code: str) -> None:
    response = office.get(f"?{query}")

    assert response.status_code == 422
    [error] = response.json()["errors"]
    assert (error["pointer"], error["code"]) == (f"?{parameter}", code)


def test_the_months_end_where_the_range_ends(office: Office) -> None:
    first, last = office.get("?month=2025-06"), office.get("?month=2028-06")

    assert (first.status_code, last.status_code) == (200, 200)
    assert ('rel="prev"' in first.text, 'rel="next"' in first.text) == (False, True)
    assert ('rel="prev"' in last.text, 'rel="next"' in last.text) == (True, False)


def test_links_keep_the_choice_and_have_no_token(office: Office) -> None:
    page = office.get(f"?scope=org&department_id={office.department_id}&month=2026-08")

    links = re.findall(r'<a href="(\?[^"]*)"', page.text)
    assert f"?scope=org&amp;month=2026-09&amp;department_id={office.department_id}" in links
    assert "?scope=team&amp;month=2026-08" in links
    assert office.token not in "".join(links)


def test_an_unchanged_page_is_not_sent_again(office: Office) -> None:
    page = office.get(headers={"Accept-Encoding": "identity"})
    compressed = office.get(headers={"Accept-Encoding": "gzip"})
    tag = page.headers["ETag"]

    assert re.fullmatch(r'"[0-9a-f]{32}-html"', tag)
    assert compressed.headers["ETag"] != tag
    assert compressed.headers["Content-Encoding"] == "gzip"
    unchanged = office.get(headers={"Accept-Encoding": "identity", "If-None-Match": tag})
    assert (unchanged.status_code, unchanged.content) == (304, b"")
    assert unchanged.headers["ETag"] == tag


@pytest.mark.parametrize("change", [*CHANGES.values()], ids=[*CHANGES])
def test_every_visible_change_is_a_new_version(
    office: Office, change: Callable[[Office], object]
) -> None:
    query, identity = "?scope=org&month=2026-08", {"Accept-Encoding": "identity"}
    before = office.get(query, headers=identity)

    change(office)

    after = office.get(query, headers=identity | {"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert after.text != before.text
    # A process that has cached nothing sends the same.
    fresh = Client(app.application(app.routes(office.database, SETTINGS, lambda: NOW), SETTINGS))
    uncached = fresh.get(f"/wallchart/{office.token}{query}", headers=identity)
    fresh.close()
    assert (uncached.headers["ETag"], uncached.text) == (after.headers["ETag"], after.text)


def test_an_unchanged_chart_costs_one_query(office: Office) -> None:
    first = office.get()
    statements_before = statement_count()

    again = office.get()
    unchanged = office.get(headers={"If-None-Match": first.headers["ETag"]})

    assert (again.status_code, unchanged.status_code) == (200, 304)
    assert again.content == first.content
    assert statement_count() - statements_before == 2


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("?month=2020-01", "This month can't be shown"),
        ("?scope=org&department_id=x", "This department can't be shown"),
        ("?scope=x", "This page doesn't exist"),
    ],
)
def test_a_browser_is_told_what_to_do_about_a_wrong_address(
    office: Office, query: str, title: str
) -> None:
    page = office.get(query, headers=BROWSER)

    assert page.status_code == 422
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    assert "Accept," in page.headers["Vary"]
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert f"<h1>{title}</h1>" in html.unescape(page.text)
    assert '<a class="button" href="?">This month</a>' in page.text


def test_a_browser_is_told_that_a_link_does_not_work(office: Office) -> None:
    page = office.client.get(f"/wallchart/{'x' * 43}", headers=BROWSER)
    german = office.client.get(
        f"/wallchart/{'x' * 43}.png", headers={**BROWSER, "Accept-Language": "de"}
    )
    program = office.client.get(
        f"/wallchart/{'x' * 43}", headers={"Accept": "application/json, text/html;q=0.5"}
    )

    assert page.status_code == german.status_code == 404
    assert "Home tab" in page.text
    assert '<a class="brand" href="../">' in page.text
    assert 'href="?"' not in page.text
    assert '<html lang="de">' in german.text
    assert program.headers["Content-Type"] == "application/problem+json"


def test_headers_keep_the_page_private(office: Office) -> None:
    page = office.get()

    policy = page.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
    assert "<script" not in page.text
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert page.headers["Cache-Control"] == "private, no-cache"
    assert page.headers["X-Robots-Tag"] == "noindex"


@pytest.mark.parametrize(
    ("language", "title", "away"),
    [
        ("de", "Wer ist nicht da?", "Abwesend"),
        ("es", "Quién está fuera", "Ausente"),
        ("fr", "Qui est absent\N{NO-BREAK SPACE}?", "Absence"),
    ],
)
def test_the_language_of_the_browser(office: Office, language: str, title: str, away: str) -> None:
    page = office.get(headers={"Accept-Language": f"{language}-CH,en;q=0.5"})

    assert f'<html lang="{language}">' in page.text
    assert title in page.text
    assert away in page.text
    assert page.headers["Content-Language"] == language
    assert "Accept-Language" in page.headers["Vary"]


def test_the_wallchart_has_the_same_words_in_every_language() -> None:
    assert {language: words.keys() for language, words in TEXTS.items()} == dict.fromkeys(
        TEXTS, TEXTS["en"].keys()
    )


def test_public_holidays_have_the_names_of_the_persons_country_in_the_language_of_the_browser(
    office: Office,
) -> None:
    of_grace(public_holiday_country_code="AT")(office)

    german = office.get("?month=2026-12", headers={"Accept-Language": "de"})
    english = office.get("?month=2026-12")

    # Ada's are British, and Boxing Day has no German name.
    assert re.findall("<b>Feiertag: ([^<]+)<", german.text) == [
        *("Erster Weihnachtstag", "Boxing Day", "Boxing Day (observed)"),
        *("Mariä Empfängnis", "Christtag", "Stephanstag"),
    ]
    assert re.findall("<b>Public holiday: ([^<]+)<", english.text) == [
        *("Christmas Day", "Boxing Day", "Boxing Day (observed)"),
        *("Immaculate Conception", "Christmas Day", "Saint Stephen&#39;s Day"),
    ]


def test_the_svg_has_no_script_and_loads_nothing(office: Office) -> None:
    picture = office.client.get(f"/wallchart/{office.token}.svg?month=2026-08")

    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert picture.headers["Content-Security-Policy"].startswith("default-src 'none'")
    root = ET.fromstring(picture.text)
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags <= {"svg", "title", "defs", "pattern", "rect", "text", "tspan", "path"}
    words = "".join(root.itertext())
    assert all(word in words for word in ("Ada Lovelace", "Annual leave", "Away", "August 2026"))


def test_no_name_breaks_the_pictures(office: Office) -> None:
    for name in (
        "\uffff \ufffe x",
        "\U0001f600 x",
        "\u05e9\u05dc\u05d5\u05dd",
        "]]>&amp;",
        "x" * 200,
    ):
        a_person(
            office.database,
            office.acme,
            first_name="Nia",
            last_name=name,
            email=f"nia{len(name)}-{ord(name[0])}@example.com",
            department_id=office.department_id,
        )

    picture = office.client.get(f"/wallchart/{office.token}.svg")
    drawn = office.client.get(f"/wallchart/{office.token}.png")

    words = "".join(ET.fromstring(picture.text).itertext())
    assert all(name in words for name in ("\U0001f600", "\u05e9\u05dc\u05d5\u05dd", "]]>&amp;"))
    assert drawn.content.startswith(b"\x89PNG")


def test_the_png_is_the_same_picture(office: Office) -> None:
    svg = office.client.get(f"/wallchart/{office.token}.svg?month=2026-08")
    path = f"/wallchart/{office.token}.png?month=2026-08"
    png = office.client.get(path)

    assert png.headers["Content-Type"] == "image/png"
    assert png.content.startswith(b"\x89PNG")
    root = ET.fromstring(svg.text)
    size = struct.unpack(">II", io.BytesIO(png.content[16:24]).read())
    assert size == (round(float(root.attrib["width"])), round(float(root.attrib["height"])))
    unchanged = office.client.get(path, headers={"If-None-Match": png.headers["ETag"]})
    assert unchanged.status_code == 304
    assert png.content == rasteriser.png(svg.content)


def test_the_process_that_draws_gets_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexport -p\n")
    program.chmod(0o700)
    monkeypatch.setenv("HIATUS_SECRET_KEY", "a secret of the service")
    monkeypatch.setattr(sys, "executable", str(program))

    environment = rasteriser.png(b"<svg/>").decode()

    assert "PATH" in environment
    assert "a secret of the service" not in environment


def test_unknown_and_revoked_tokens_are_the_same_404(office: Office) -> None:
    feed = office.database.write_now(
        feeds.create, "Kitchen", by=caller_for(office.acme, office.ada), now=NOW
    )
    revoked = office.client.get(f"/wallchart/{feed.token}")
    assert revoked.status_code == 200

    office.database.write_now(
        feeds.revoke, feed.id, by=caller_for(office.acme, office.ada), now=NOW
    )
    office.database.write_now(
        feeds.regenerate_personal, by=caller_for(office.acme, office.ada), now=NOW
    )

    answers = [
        office.client.get(f"/wallchart/{token}{suffix}")
        for token in (feed.token, office.token, "x" * 43, "short")
        for suffix in ("", ".svg", ".png")
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert {answer.json()["detail"] for answer in answers} == {"There is no such wallchart."}


def test_a_server_without_the_packages_for_pictures_says_so(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "resvg_py", None)

    refused = office.client.get(f"/wallchart/{office.token}.png?month=2026-08")
    drawn = office.client.get(f"/wallchart/{office.token}.svg?month=2026-08")

    assert (refused.status_code, refused.json()["code"]) == (501, "pictures_unavailable")
    assert ".svg instead of .png" in refused.json()["detail"]
    assert drawn.status_code == 200
    assert (".svg" in office.get().text, ".png" in office.get().text) == (True, False)


def test_the_url_of_a_chart() -> None:
    url = wallchart.url("https://hiatus.test", "token")
    org = wallchart.url(
        "https://hiatus.test", "token", scope="org", first_day=date(2027, 3, 1), department_id="d"
    )

    assert url == "https://hiatus.test/wallchart/token"
    assert org == "https://hiatus.test/wallchart/token?scope=org&month=2027-03&department_id=d"


@pytest.mark.parametrize(
    ("colour", "ink"), [("#ffffff", "#000000"), ("#000000", "#ffffff"), ("#2e86de", "#000000")]
)
def test_letters_can_be_read_on_their_colour(colour: str, ink: str) -> None:
    assert ink_on(colour) == ink
