"""`/` and `/privacy`, as browsers and programs ask for them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

import httpx
import pytest
from structlog.testing import capture_logs

from api.documentation import documentation
from api.service import app
from api.website import welcome
from api.website.welcome import Website
from storage.base import retention
from storage.calendars import absences
from tests.api.conftest import SETTINGS, Client

pytestmark = pytest.mark.shared_database

PAGES = ["/", "/privacy"]
LANGUAGES = ["en", "de", "es", "fr"]


def client_of(site: Website) -> Client:
    """A client of the website and the documentation, which need no database."""
    routes = [
        *welcome.routes(site, SETTINGS.base_url),
        *documentation.routes((), {}, SETTINGS.base_url),
    ]
    return Client(app.application(routes, SETTINGS))


@pytest.fixture
def client() -> Iterator[Client]:
    client = client_of(Website())
    yield client
    client.close()


@pytest.fixture
def installable() -> Iterator[Client]:
    """A deployment that any workspace can add to its Slack."""
    client = client_of(Website(command="/urlaub", can_install=True))
    yield client
    client.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_only_the_demo_has_a_link_to_the_playground(client: Client, language: str) -> None:
    demo = client_of(Website(has_playground=True))
    headers = {"Accept-Language": language}
    pages = [site.get("/", headers=headers).text for site in (client, demo)]
    demo.close()

    assert ['href="playground"' in page for page in pages] == [False, True]


def addresses(page: httpx.Response) -> list[str]:
    """Every address in a page's tags, in full."""
    return [str(page.url.join(found)) for found in re.findall(r'(?:href|src)="([^"]+)"', page.text)]


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_needs_no_script_and_nothing_from_elsewhere(
    client: Client, path: str, language: str
) -> None:
    page = client.get(path, headers={"Accept-Language": language})

    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert re.findall(r"<script|<style| style=| on[a-z]+=|\{\w", page.text) == []
    found = addresses(page)
    assert len([address for address in found if ".css" in address]) == 1
    assert [address for address in found if not address.startswith("https://hiatus.test/")] == []
    assert {client.get(address).status_code for address in found} == {200}
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("contact", "address"),
    [
        ("help@example.com", "mailto:help@example.com"),
        ("https://example.com/?a=1&b=2", "https://example.com/?a=1&amp;b=2"),
    ],
)
@pytest.mark.parametrize("path", PAGES)
def test_every_page_names_the_support_contact(path: str, contact: str, address: str) -> None:
    client = client_of(Website(support_contact=contact))

    page = client.get(path, headers={"Accept-Language": "de"}).text

    assert f'<p>Fragen oder Feedback? <a href="{address}">' in page
    client.close()


@pytest.mark.parametrize("path", PAGES)
def test_without_a_support_contact_no_page_asks_to_write_to_one(client: Client, path: str) -> None:
    assert "feedback?" not in client.get(path).text


@pytest.mark.parametrize("path", PAGES)
def test_every_page_links_to_the_others(client: Client, path: str) -> None:
    found = addresses(client.get(path))

    for other in ("/", "/docs", "/privacy"):
        assert f"https://hiatus.test{other}" in found


@pytest.mark.parametrize(
    ("accepted", "served"),
    [
        (None, "en-GB"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("en-US,en;q=0.9,de;q=0.8", "en-GB"),
        ("fr-FR,fr;q=0.9,de;q=0.7,en;q=0.5", "fr"),
        ("pt-PT,pt;q=0.9,es;q=0.7,en;q=0.5", "es"),
        ("pt, it;q=0.8", "en-GB"),
        ("de;q=0", "en-GB"),
        ("*", "en-GB"),
        ("%%;;q=,", "en-GB"),
    ],
)
@pytest.mark.parametrize("path", PAGES)
def test_a_page_is_in_the_language_of_the_browser(
    client: Client, path: str, accepted: str | None, served: str
) -> None:
    page = client.get(path, headers={} if accepted is None else {"Accept-Language": accepted})

    assert f'<html lang="{served}">' in page.text
    assert page.headers["Content-Language"] == served
    assert "Accept-Language" in page.headers["Vary"].split(", ")
    assert "Accept-Encoding" in page.headers["Vary"].split(", ")


@pytest.mark.parametrize("path", PAGES)
def test_languages_have_the_same_sections_and_different_tags(client: Client, path: str) -> None:
    pages = [client.get(path, headers={"Accept-Language": language}) for language in LANGUAGES]

    english, *others = [re.findall(r"<(\w+)", page.text) for page in pages]
    assert others == [english] * len(others)
    assert len({page.headers["ETag"] for page in pages}) == len(LANGUAGES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_slack_is_offered_only_where_workspaces_can_add_the_app(
    client: Client, installable: Client, language: str
) -> None:
    headers = {"Accept-Language": language}
    without, with_slack = client.get("/", headers=headers), installable.get("/", headers=headers)

    assert "https://hiatus.test/slack/install" in addresses(with_slack)
    assert "slack/install" not in without.text
    assert "<code>/timeoff</code>" in without.text
    assert "<code>/urlaub</code>" in with_slack.text


def test_an_unchanged_page_answers_304(client: Client) -> None:
    for path in PAGES:
        page = client.get(path)
        again = client.get(path, headers={"If-None-Match": page.headers["ETag"]})

        assert page.headers["Cache-Control"] == "no-cache"
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["Vary"] == page.headers["Vary"]


@pytest.mark.parametrize("path", [*PAGES, "/docs"])
def test_a_page_accepts_only_reads(client: Client, path: str) -> None:
    refused = client.post(path)

    assert (refused.status_code, refused.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert client.request("HEAD", path).status_code == 200


def test_privacy_with_a_slash_leads_to_the_page(client: Client) -> None:
    response = client.get("/privacy/")

    assert (response.status_code, response.headers["Location"]) == (308, "../privacy")


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("application/json", "application/json"),
        ("text/html;q=0.5, application/json", "application/json"),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("*/*", "text/html"),
    ],
)
def test_programs_get_the_addresses_as_json(client: Client, accept: str, content_type: str) -> None:
    response = client.get("/", headers={"Accept": accept})

    assert response.headers["Content-Type"].partition(";")[0] == content_type
    assert response.headers["Vary"] == "Accept, Accept-Encoding, Accept-Language"
    if content_type == "application/json":
        assert response.json() == {
            "name": "Hiatus",
            "api": "https://hiatus.test/api/v1",
            "openapi": "https://hiatus.test/openapi.json",
            "documentation": "https://hiatus.test/docs",
            "privacy": "https://hiatus.test/privacy",
        }


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_periods_on_the_privacy_page_are_those_of_the_code(
    client: Client, language: str
) -> None:
    set_by_operator = client_of(
        Website(retention=retention.Retention(delivery_days=90, notification_days=7))
    )
    sites = (client, set_by_operator)
    pages = [site.get("/privacy", headers={"Accept-Language": language}) for site in sites]
    set_by_operator.close()

    periods = [re.findall(r"<dd>\s*(\d+)\s", page.text) for page in pages]
    others = (absences.CANCELLED_SHOWN_DAYS, retention.STORED_RESPONSES // timedelta(hours=1))
    assert [[int(number) for number in numbers] for numbers in periods] == [
        [others[0], 30, 30, others[1]],
        [others[0], 90, 7, others[1]],
    ]
    assert timedelta(days=1) == retention.SLACK_EVENTS


def test_log_lines_have_the_route_and_no_query(client: Client) -> None:
    paths = [*PAGES, "/docs", "/docs/", "/favicon.ico"]

    with capture_logs() as entries:
        for path in paths:
            client.get(f"{path}?token=secret")

    assert [entry["route"] for entry in entries] == paths
    assert "secret" not in str(entries)


BROWSER = {"Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}


@pytest.mark.parametrize(
    ("language", "title"),
    [
        ("en", "This page doesn’t exist"),
        ("de", "Diese Seite gibt es nicht"),
        ("es", "Esta página no existe"),
        ("fr", "Cette page n’existe pas"),
    ],
)
@pytest.mark.parametrize("path", ["/nothing", "/docs/nothing/", "/cal/a/b%2Fc", "/apix"])
def test_a_browser_is_shown_a_page_where_there_is_none(
    client: Client, path: str, language: str, title: str
) -> None:
    page = client.get(path, headers={**BROWSER, "Accept-Language": language})

    assert page.status_code == 404
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["Vary"] == "Accept, Accept-Language"
    assert f"<h1>{title}</h1>" in page.text
    assert f'<html lang="{page.headers["Content-Language"]}">' in page.text
    found = addresses(page)
    assert "https://hiatus.test/" in found
    assert {client.get(address).status_code for address in found} == {200}


def test_a_browser_below_the_path_of_a_proxy_finds_the_home_page(client: Client) -> None:
    page = client.get("/nothing/here", headers=BROWSER)

    assert 'class="button" href="../"' in page.text


def test_a_browser_that_may_not_send_there_is_told_in_words(client: Client) -> None:
    page = client.post("/docs", headers={**BROWSER, "Accept-Language": "de"})

    assert (page.status_code, page.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert "<h1>Hier gibt es nichts zu sehen</h1>" in page.text


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/nothing", "*/*"),
        ("/nothing", "application/json"),
        ("/nothing", "application/problem+json, text/html;q=0.5"),
        ("/api", BROWSER["Accept"]),
        ("/api/v1/nothing", BROWSER["Accept"]),
    ],
)
def test_programs_and_the_api_get_a_problem_where_there_is_nothing(
    client: Client, path: str, accept: str
) -> None:
    refused = client.get(path, headers={"Accept": accept})

    assert refused.headers["Content-Type"] == "application/problem+json"
    assert (refused.status_code, refused.json()["code"]) == (404, "not_found")
