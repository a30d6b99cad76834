"""The playground's page in a browser, as a person who tries Hiatus uses it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Browser, Error, Locator, Page, Route, expect

# The machine may be busy with everything else that is tested.
PATIENCE_MS = 30_000
_IDS = ("U0AMIR", "U0GRACE", "U0HENRIK")


@contextmanager
def opened(browser: Browser, **options: Any) -> Iterator[Page]:
    """A new page, which must leave nothing in the browser's console."""
    expect.set_options(timeout=PATIENCE_MS)
    where = {"locale": "en-GB", "timezone_id": "Europe/London", **options}
    context = browser.new_context(**where)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    console: list[str] = []
    page.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: console.append(str(error)))
    yield page
    context.close()
    assert console == [], console


def amir(page: Page) -> Locator:
    return page.locator("#person-1")


def grace(page: Page) -> Locator:
    return page.locator("#person-2")


def henrik(page: Page) -> Locator:
    return page.locator("#person-3")


def say(who: Locator, text: str) -> None:
    who.get_by_label("Message Hiatus").fill(text)
    who.get_by_role("button", name="Send").click()


def message(number: int, text: str, **changes: Any) -> dict[str, Any]:
    """A message as the server sends it to the page."""
    return {
        "channel": "D1",
        "ts": f"1764000000.{number:06d}",
        "text": text,
        "blocks": [],
        "ephemeral": False,
        "edited": False,
        "deleted": False,
        "thread_ts": None,
        "reply_broadcast": False,
        "replied_to": None,
        "replies": [],
        "files": [],
    } | changes


class Screens:
    """Serves a page the screens that a test makes up, in place of the server's.

    As the server does, it answers a request for news once there are any. ``names`` are those of the
    three people whom the page shows first.
    """

    def __init__(self, page: Page, *names: str) -> None:
        self._names = dict(zip(_IDS, names, strict=True))
        self._version = 0
        self._waiting: list[Route] = []
        self._state: dict[str, Any] = {}
        self.show()
        page.route("**/playground/state*", self._answer)
        page.route("**/playground/act", lambda route: route.fulfill(json={"ok": True}))

    def show(
        self,
        *messages: dict[str, Any],
        modal: dict[str, Any] | None = None,
        home: dict[str, Any] | None = None,
    ) -> None:
        """What every person sees from now on."""
        self._version += 1
        channels = [{"id": "C1", "name": "general", "messages": []}]
        screen = {"messages": list(messages), "modal": modal, "home": home, "channels": channels}
        self._state = {
            "version": self._version,
            "people": [
                {"id": user_id, "name": name, "title": "member", "locale": "en-GB"}
                for user_id, name in self._names.items()
            ],
            "problems": [],
            "screens": dict.fromkeys(self._names, screen),
        }
        waiting, self._waiting = self._waiting, []
        for route in waiting:
            # The page may have asked again meanwhile.
            with suppress(Error):
                self._answer(route)

    def _answer(self, route: Route) -> None:
        after = parse_qs(urlsplit(route.request.url).query).get("after", [""])[0]
        if after == str(self._version):
            self._waiting.append(route)
        else:
            route.fulfill(json=self._state)


def is_trouble(line: str) -> bool:
    """Whether a line of the server's log is a warning or worse."""
    try:
        return json.loads(line).get("level") not in ("debug", "info")
    except ValueError:
        return True
