"""The pictures in docs/screenshots, each in light and dark. `make screenshots` remakes them.

Each pair of pictures comes from a demo of its own, so the screens show what a newcomer finds.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal

from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from tests import browser as browsers
from tests import javascript
from tests.flows.playground_page import PATIENCE_MS, amir, grace, say
from tests.flows.running import ROOT, Deployment, Server
from tests.small_png import small_png

FOLDER: Final = ROOT / "docs" / "screenshots"
_FONT: Final = javascript.FOLDER / "node_modules/@fontsource/noto-color-emoji/files"
# Browsers without a font for emoji show boxes in their place.
_EMOJI: Final = """
@font-face { font-family: "Emoji"; src: url("emoji.woff2"); unicode-range: U+200d, U+2049,
  U+231a-231b, U+23e9-23fa, U+2600-27bf, U+2b1b-2b55, U+fe0f, U+1f000-1faff; }
:root, :root * { font-family: "Emoji", Lato, system-ui, sans-serif; }
"""

Scheme = Literal["light", "dark"]


class Camera:
    """Takes the pictures of one colour scheme."""

    def __init__(self, browser: Browser, server: Server, scheme: Scheme) -> None:
        self._browser = browser
        self._server = server
        self._scheme: Scheme = scheme
        self._workbench = browser.new_page()

    @contextmanager
    def at(
        self, path: str, width: int = 720, height: int = 860, *, locale: str = "en-GB"
    ) -> Iterator[Page]:
        """A page of the server, with pictures for emoji and without the tour."""
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme=self._scheme,
            locale=locale,
            timezone_id="Europe/London",
            bypass_csp=True,
        )
        _give_emoji(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{self._server.url}{path}")
        if path.startswith("/playground"):
            page.add_style_tag(content=_EMOJI)
            # Opening Home draws it again: a press meanwhile would be lost.
            page.wait_for_timeout(1_500)
            expect(page.locator(".panel.busy")).to_have_count(0)
        yield page
        context.close()

    def take(self, page: Page, name: str) -> None:
        page.mouse.move(0, 0)
        page.evaluate("document.fonts.ready.then(() => 0)")
        page.wait_for_timeout(1_000)
        picture = small_png(self._workbench, page.screenshot())
        (FOLDER / f"{name}-{self._scheme}.png").write_bytes(picture)


def _give_emoji(context: BrowserContext) -> None:
    path = _FONT / "noto-color-emoji-emoji-400-normal.woff2"
    context.route("**/emoji.woff2", lambda route: route.fulfill(path=path))


def home(camera: Camera) -> None:
    with camera.at("/playground?as=amir,grace,henrik&tab=home", 1280, 900) as page:
        for tab in page.get_by_role("tabpanel").all():
            expect(tab.get_by_role("button").first).to_be_visible()
        camera.take(page, "home")
    with camera.at("/playground?as=grace&tab=home", 360, 780) as page:
        expect(amir(page).get_by_role("tabpanel").get_by_role("button").first).to_be_visible()
        camera.take(page, "home-phone")


def form(camera: Camera) -> None:
    with camera.at("/playground?as=amir", height=940) as page:
        say(amir(page), "/timeoff")
        dialog = amir(page).get_by_role("dialog")
        expect(dialog).to_contain_text("approval")
        camera.take(page, "form")
    with camera.at("/playground?as=amir", 360, 780) as page:
        camera.take(page, "phone")
        amir(page).get_by_role("button", name="Close all").click()


def card(camera: Camera) -> None:
    with camera.at("/playground?as=grace", height=560) as page:
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
        camera.take(page, "card")
    with camera.at("/playground?as=grace", 360, 640) as page:
        expect(page.get_by_role("button", name="Approve")).to_be_visible()
        camera.take(page, "card-phone")


def suggestion(camera: Camera) -> None:
    with camera.at("/playground?as=amir,grace", 1280, 760) as page:
        page.get_by_role("button", name="Suggest other dates").click()
        form = page.get_by_role("dialog")
        expect(form.get_by_text("No one else on their team is off.")).to_be_visible()
        camera.take(page, "suggestion")
        form.get_by_role("button", name="Back").click()


def calendar(camera: Camera) -> None:
    with camera.at("/playground?as=olivia%20bennett", 980, 720) as page:
        page.get_by_label("Message Hiatus").fill("/timeoff calendar everyone")
        page.get_by_role("button", name="Send").click()
        expect(page.get_by_role("table")).to_be_visible()
        camera.take(page, "calendar")


def declined(camera: Camera) -> None:
    with camera.at("/playground?as=amir,grace", 1280, 640) as page:
        page.get_by_role("button", name="Decline").click()
        reason = page.get_by_role("dialog")
        reason.get_by_role("textbox").fill("We launch that week. Would the week after work?")
        reason.get_by_role("button", name="Decline").click()
        expect(reason).to_be_hidden()
        bar = amir(page).locator(".replies")
        expect(bar).to_be_visible()
        camera.take(page, "declined")
        bar.click()
        camera.take(page, "thread")


def admin(camera: Camera) -> None:
    with camera.at("/playground?as=henrik&tab=home") as page:
        _press(page, "Leave types")
        camera.take(page, "leave-types")
        page.get_by_role("button", name="Close all").click()
        _press(page, "Allowances")
        camera.take(page, "allowances")
        page.get_by_role("button", name="Close all").click()
        _press(page, "Closures")
        camera.take(page, "closures")
        _look_at_a_new_closure(page.get_by_role("dialog"))
        camera.take(page, "closure-effects")
        page.get_by_role("button", name="Close all").click()
        _press(page, "Absence limits")
        camera.take(page, "limits")
        _look_at_a_new_limit(page.get_by_role("dialog"))
        camera.take(page, "limit-effects")
        page.get_by_role("button", name="Close all").click()
        _press(page, "People")
        camera.take(page, "people")
        page.get_by_role("button", name="Close all").click()
        _press(page, "Display links")
        _add_a_display_link(page.get_by_role("dialog"))
        camera.take(page, "display-links")
        page.get_by_role("button", name="Close all").click()
        _press(page, "API keys")
        _create_a_key(page.get_by_role("dialog"))
        camera.take(page, "api-key")


def time_in_lieu(camera: Camera) -> None:
    """Marta decides on what Noor claims."""
    with camera.at("/playground?as=amir", height=760) as page:
        say(amir(page), "/timeoff worked sat 1 day Release on Saturday")
        dialog = amir(page).get_by_role("dialog")
        expect(dialog).to_contain_text("Days to get back")
        camera.take(page, "time-in-lieu-form")
        page.get_by_role("button", name="Close all").click()
    with camera.at("/playground?as=marta", height=760) as page:
        expect(page.get_by_role("button", name="Approve").last).to_be_visible()
        camera.take(page, "time-in-lieu-card")
    with camera.at("/playground?as=marta", 380, 760) as page:
        expect(page.get_by_role("button", name="Approve").last).to_be_visible()
        camera.take(page, "time-in-lieu-card-phone")


def _press(page: Page, name: str) -> None:
    page.get_by_role("tabpanel").get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=name, exact=True).click()
    expect(dialog.get_by_role("heading", name="Settings")).to_be_hidden()


def _create_a_key(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Create API key").click()
    dialog.get_by_label("Name").fill("Payroll")
    dialog.get_by_label("leave:read").check()
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog).to_contain_text("You won't see it again")


def _add_a_display_link(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Add a display link").click()
    dialog.get_by_label("Name").fill("Kitchen")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text("Kitchen")


def _look_at_a_new_closure(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Add a closure").click()
    dialog.get_by_label("Name").fill("Spring closure")
    year = datetime.now(UTC).year + 1
    dialog.get_by_label("First day").fill(f"{year}-05-03")
    dialog.get_by_label("Last day").fill(f"{year}-05-07")
    dialog.get_by_label("Leave type").select_option(label="Annual leave")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text("people get leave")


def _look_at_a_new_limit(dialog: Locator) -> None:
    dialog.get_by_role("button", name="Add an absence limit").click()
    dialog.get_by_label("Name").fill("Everyone")
    dialog.get_by_label("At most this many away").fill("0")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text("would have been refused")


def inbox(camera: Camera) -> None:
    """Grace decides on what her team asks for: two of the requests meet."""
    monday = datetime.now(UTC).date() + timedelta(days=150)
    monday -= timedelta(days=monday.weekday())
    for who, days_later in (("chloe", 0), ("kenji", 14), ("amir", 15)):
        day = monday + timedelta(days=days_later)
        with camera.at(f"/playground?as={who}") as page:
            person = amir(page)
            say(person, f"{day.day} {day:%B %Y} - {(day + timedelta(days=1)).day} {day:%B %Y}")
            answer = person.get_by_role("article").last
            answer.get_by_role("button", name="Send").click()
            expect(answer).to_contain_text("sent")
    with camera.at("/playground?as=grace&tab=home", 720, 900) as page:
        expect(page.get_by_role("button", name="Approve these")).to_be_visible()
        camera.take(page, "inbox")
    with camera.at("/playground?as=grace&tab=home", 380, 780) as page:
        expect(page.get_by_role("button", name="Approve these")).to_be_visible()
        camera.take(page, "inbox-phone")


def first_message(camera: Camera) -> None:
    """Sam, whom an admin added, opens the app."""
    with camera.at("/playground?as=sam", height=560) as page:
        say(amir(page), "/timeoff balance")
        expect(amir(page).get_by_role("tabpanel")).to_contain_text("Welcome")
        camera.take(page, "first-message")


def german(camera: Camera) -> None:
    """Amir and Grace read German. Later pictures would be in German as well."""
    with camera.at("/playground?as=amir,grace&tab=home", 1280) as page:
        for person in (amir(page), grace(page)):
            expect(person.get_by_role("tabpanel")).to_contain_text("Your leave")
            person.get_by_label("Language").select_option("de-DE")
            expect(person.get_by_role("tabpanel")).to_contain_text("Jahresurlaub")
    with camera.at("/playground?as=amir&tab=home") as page:
        expect(amir(page).get_by_role("tabpanel")).to_contain_text("Jahresurlaub")
        camera.take(page, "home-german")
    with camera.at("/playground?as=amir", height=940) as page:
        say(amir(page), "/timeoff")
        dialog = amir(page).get_by_role("dialog")
        expect(dialog).to_contain_text("Grace")
        camera.take(page, "form-german")
        dialog.locator("button.primary").click()
        expect(dialog).to_be_hidden()
    with camera.at("/playground?as=grace", height=560) as page:
        expect(page.get_by_role("button", name="Genehmigen").last).to_be_visible()
        camera.take(page, "card-german")


def website(camera: Camera, server: Server) -> None:
    with camera.at("/", 1140, 760) as page:
        camera.take(page, "welcome")
    with camera.at("/docs", 1140, 760) as page:
        page.wait_for_selector(".opblock")
        camera.take(page, "reference")
    api_key = re.findall(r"hiatus_sk_live_\w+", server.printed())[1]
    token = server.client(api_key).get("/api/v1/calendar-feeds/token").json()["token"]
    with camera.at(f"/wallchart/{token}?scope=org", 1140, 560) as page:
        camera.take(page, "wallchart")
    with camera.at(f"/wallchart/{token}?scope=org", 360, 640) as page:
        camera.take(page, "wallchart-phone")
    with camera.at(f"/wallchart/{token}?scope=org", 1140, 560, locale="de-DE") as page:
        camera.take(page, "wallchart-german")
    link = server.client(re.findall(r"hiatus_sk_live_\w+", server.printed())[0]).post(
        "/api/v1/display-links", json={"name": "Kitchen"}
    )
    display = link.json()["url"].removeprefix(server.url)
    with camera.at(display, 1600, 900) as page:
        camera.take(page, "display")
    with camera.at(display, 380, 640) as page:
        camera.take(page, "display-phone")
    with camera.at("/playground", 1280, 700) as page:
        expect(page.get_by_role("button", name="Approve").first).to_be_visible()
        camera.take(page, "playground")


def main() -> None:
    chromium = browsers.find()
    if chromium is None:
        raise SystemExit(browsers.NONE_FOUND)
    expect.set_options(timeout=PATIENCE_MS)
    schemes: tuple[Scheme, ...] = ("light", "dark")
    with browsers.launched(chromium) as browser:
        for scheme in schemes:
            _take_all(browser, scheme)


def _take_all(browser: Browser, scheme: Scheme) -> None:
    settings: dict[str, Any] = {"HIATUS_SUPPORT_CONTACT": "people@acme.example"}
    with tempfile.TemporaryDirectory() as folder:
        deployment = Deployment(f"sqlite:///{Path(folder)}/hiatus.db", **settings)
        with deployment.serving("--demo") as server:
            camera = Camera(browser, server, scheme)
            website(camera, server)
            home(camera)
            form(camera)
            card(camera)
            suggestion(camera)
            admin(camera)
            time_in_lieu(camera)
            declined(camera)
            calendar(camera)
            inbox(camera)
            german(camera)
            admin_key = re.findall(r"hiatus_sk_live_\w+", server.printed())[0]
            sam = {"email": "sam@acme.example", "first_name": "Sam", "last_name": "Rivera"}
            server.client(admin_key).post("/api/v1/users", json=sam).raise_for_status()
        # The playground's people are those of the organisation when it starts.
        with deployment.serving("--demo") as server:
            first_message(Camera(browser, server, scheme))


if __name__ == "__main__":
    main()
