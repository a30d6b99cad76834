"""axe-core finds nothing on the pages of Hiatus, in light and dark, wide and narrow."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from tests.accessibility import violations
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

PEOPLE_OF_DEMO = 9
Scheme = Literal["light", "dark"]

# The machine may be busy with everything else that is tested.
PATIENCE_MS = 30_000
# Colours of buttons change gradually.
TRANSITION_MS = 500
SCREENS: list[tuple[Scheme, int]] = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    url = f"sqlite:///{tmp_path_factory.mktemp('pages')}/hiatus.db"
    with Deployment(url).serving("--demo") as server:
        yield server
        server.stop()


@pytest.fixture(params=SCREENS, ids=lambda screen: f"{screen[0]}-{screen[1]}")
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    scheme, width = request.param
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    console: list[str] = []
    page.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: console.append(str(error)))
    yield page
    context.close()
    assert console == []


def is_as_wide_as_the_screen(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.mark.parametrize("path", ["/", "/privacy", "/docs/errors", "/playground/webhooks"])
def test_a_page_of_text_is_accessible(page: Page, server: Server, path: str) -> None:
    page.goto(f"{server.url}{path}")

    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)


def test_received_webhooks_fit_on_a_phone(browser: Browser, server: Server) -> None:
    context = browser.new_context(viewport={"width": 380, "height": 800})
    page = context.new_page()
    page.goto(f"{server.url}/playground/webhooks")
    page.get_by_role("button", name="Connect").click()
    page.get_by_role("button", name="Send a ping").click()

    page.locator("#events summary", has_text="signature OK").click()

    page.get_by_label("Body").wait_for()
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)
    context.close()


def test_the_welcome_page_of_the_demo_leads_to_the_playground(page: Page, server: Server) -> None:
    page.goto(server.url)

    page.get_by_role("link", name="playground").click()

    page.wait_for_url(f"{server.url}/playground")


def wallchart_of(server: Server) -> str:
    """The address of the wallchart of the demo's member."""
    api_key = re.findall(r"hiatus_sk_live_\w+", server.printed())[1]
    token = server.client(api_key).get("/api/v1/calendar-feeds/token").json()["token"]
    return f"{server.url}/wallchart/{token}"


def test_the_wallchart_is_accessible(page: Page, server: Server) -> None:
    page.goto(f"{wallchart_of(server)}?scope=org")

    assert page.get_by_role("rowheader").count() == PEOPLE_OF_DEMO
    assert page.get_by_role("columnheader").count() > 28
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_a_narrow_wallchart_opens_at_today_and_is_scrolled_freely(
    browser: Browser, server: Server, locale: str
) -> None:
    context = browser.new_context(viewport={"width": 380, "height": 800}, locale=locale)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(f"{wallchart_of(server)}?scope=org")
    page.wait_for_timeout(TRANSITION_MS)

    today = page.locator("thead .today").bounding_box()
    assert today is not None
    assert 0 <= today["x"] <= 380 - today["width"]
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]
    page.evaluate("document.querySelector('.chart').scrollLeft = 0")
    page.wait_for_timeout(TRANSITION_MS)
    assert page.evaluate("document.querySelector('.chart').scrollLeft") == 0
    context.close()


def test_the_page_of_a_display_link_is_accessible(page: Page, server: Server) -> None:
    api_key = re.findall(r"hiatus_sk_live_\w+", server.printed())[0]
    link = server.client(api_key).post("/api/v1/display-links", json={"name": "Kitchen"}).json()
    page.goto(link["url"])

    assert page.get_by_role("rowheader").count() == PEOPLE_OF_DEMO
    assert page.get_by_role("columnheader").count() == 36
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_error_pages_of_the_wallchart_are_accessible(
    browser: Browser, server: Server, scheme: Scheme, width: int
) -> None:
    # Without the fixture: Chromium writes each error of a page to the console.
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)

    page.goto(f"{server.url}/wallchart/{'x' * 43}")
    assert "doesn't work" in page.get_by_role("heading", level=1).inner_text()
    assert violations(page) == []
    page.goto(f"{wallchart_of(server)}?month=1999-01")
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)

    page.get_by_role("link", name="This month").click()
    page.wait_for_selector("table")
    context.close()


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_the_page_in_place_of_a_missing_one_is_accessible(
    browser: Browser, server: Server, scheme: Scheme, width: int
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)

    page.goto(f"{server.url}/no/such/page")
    assert "exist" in page.get_by_role("heading", level=1).inner_text()
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)

    page.get_by_role("link", name="Go to the home page").click()
    page.wait_for_url(f"{server.url}/")
    context.close()


def test_the_wallchart_is_used_with_the_keyboard(page: Page, server: Server) -> None:
    page.goto(wallchart_of(server))
    this_month = page.locator("h1").inner_text()

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**month=**")
    assert page.locator("h1").inner_text() != this_month
    page.get_by_role("link", name="Everyone").press("Enter")
    page.wait_for_url("**scope=org**")
    assert page.get_by_role("rowheader").count() == PEOPLE_OF_DEMO
    page.get_by_label("Department").select_option(label="Design")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**department_id=**")
    assert 0 < page.get_by_role("rowheader").count() < PEOPLE_OF_DEMO
    # The chart is scrolled with the arrow keys.
    page.get_by_role("region").focus()
    assert page.evaluate("document.activeElement.className") == "chart"


def test_the_wallchart_is_printed_without_what_paper_cannot_do(page: Page, server: Server) -> None:
    page.goto(f"{wallchart_of(server)}?scope=org")

    page.emulate_media(media="print")

    assert page.get_by_role("link").count() == 0
    assert page.get_by_role("rowheader").first.is_visible()
    white = "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == white


def test_the_reference_is_accessible(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/docs")
    page.wait_for_selector(".opblock")

    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)


def show_operation(page: Page, tag: str, summary: str) -> None:
    """Follow its link in the list beside the reference, which is folded on narrow screens."""
    navigation = page.locator("details.operations")
    if navigation.get_attribute("open") is None:
        page.get_by_text("All operations").press("Enter")
    chapter = navigation.locator("details", has=page.get_by_text(tag, exact=True))
    if chapter.get_attribute("open") is None:
        chapter.locator("summary").press("Enter")
    assert violations(page) == []
    chapter.get_by_role("link", name=summary).press("Enter")
    page.locator(".opblock.is-open", has_text=summary).wait_for()


def test_the_reference_begins_with_an_operation_and_a_list_of_all(
    page: Page, server: Server
) -> None:
    page.goto(f"{server.url}/docs")
    first = page.locator(".opblock").first
    first.wait_for()
    is_wide = page.evaluate("innerWidth") > 1000

    box = first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 800
    assert page.get_by_role("link", name="Read who the key acts for").is_visible() == is_wide
    page.locator(".guide > summary").press("Enter")
    page.get_by_role("heading", name="The first five minutes").wait_for()
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)
    show_operation(page, "Webhooks", "Register a webhook")
    assert page.url.endswith("/docs#/Webhooks/webhooks.create")
    assert page.get_by_role("link", name="Read who the key acts for").is_visible() == is_wide
    assert violations(page) == []

    page.reload()
    page.locator(".opblock.is-open", has_text="Register a webhook").wait_for()


def test_the_reference_is_searched_by_what_operations_show(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/docs")
    page.wait_for_selector(".opblock")

    page.get_by_label("Search operations").fill("revoke feed")

    revoke = page.locator(".opblock", has_text="Revoke a calendar feed")
    revoke.wait_for()
    page.locator(".opblock", has_text="Create a user").wait_for(state="detached")
    assert page.locator(".opblock").count() < 20
    assert violations(page) == []


def test_the_reference_is_accessible_in_use(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/docs")

    page.get_by_role("button", name="Authorize", exact=True).first.click()
    page.wait_for_selector(".dialog-ux")
    assert violations(page) == []
    page.locator(".dialog-ux").get_by_role("button", name="Close").first.click()

    show_operation(page, "Health", "Liveness check")
    health = page.locator(".opblock", has_text="Liveness check")
    health.get_by_role("button", name="Try it out").click()
    health.get_by_role("button", name="Execute").click()
    health.locator(".live-responses-table").wait_for()
    page.wait_for_timeout(TRANSITION_MS)
    assert violations(page) == []

    show_operation(page, "Users", "Create a user")
    create = page.locator(".opblock", has_text="Create a user")
    create.get_by_role("button", name="Try it out").click()
    create.get_by_label("Request body").wait_for()
    page.wait_for_timeout(TRANSITION_MS)
    assert violations(page) == []
    assert is_as_wide_as_the_screen(page)

    page.locator(".models-control").click()
    page.locator(".models article").first.wait_for()
    assert violations(page) == []
