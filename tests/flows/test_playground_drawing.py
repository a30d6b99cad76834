"""What the playground draws: blocks and texts, threads, unread marks, deep links and the tour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.accessibility import violations
from tests.flows.playground_page import Screens, amir, grace, message, opened
from tests.flows.running import Deployment, Server

pytestmark = pytest.mark.slow

Scheme = Literal["light", "dark"]

SCREENS: list[tuple[Scheme, int]] = [("light", 1280), ("dark", 1280), ("light", 360), ("dark", 360)]
# What no text may become: these would run, load or send something.
ACTIVE = "script, iframe, object, form[action], img:not([src*='playground/assets']), [onerror]"
HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<javascript:alert(1)|press>",
    "<data:text/html,x|press>",
    '"><svg onload=alert(1)>',
    "&lt;b&gt;*_~`<!channel>",
    "```<b>```",
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    url = f"sqlite:///{tmp_path_factory.mktemp('playground')}/hiatus.db"
    with Deployment(url).serving("--demo") as server:
        yield server


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{server.url}/playground")
        expect(grace(page).get_by_role("button", name="Approve")).to_be_visible()
        yield page


def drawn(page: Page, blocks: list[dict[str, object]]) -> str:
    """The blocks as HTML, drawn by the page's own code."""
    source = page.locator("script[type=module]").get_attribute("src")
    html: str = page.evaluate(
        """async ([source, blocks]) => {
            const url = new URL(source.replace("playground.js", "playground-blocks.js"), location);
            const { drawBlocks } = await import(url);
            const people = [{ id: "U1", name: "Ada" }];
            const scene = { people, channels: [], values: {}, errors: {} };
            const root = document.createElement("div");
            root.append(...drawBlocks(blocks, scene));
            return root.innerHTML;
        }""",
        [source, blocks],
    )
    return html


def section(text: str) -> list[dict[str, object]]:
    return [{"type": "section", "text": {"type": "mrkdwn", "text": text}}]


def heads(page: Page, messages: list[dict[str, object]]) -> list[bool]:
    """Whether each message of a conversation has a head, drawn by the page's own code."""
    source = page.locator("script[type=module]").get_attribute("src")
    shown: list[bool] = page.evaluate(
        """async ([source, messages]) => {
            const script = source.replace("playground.js", "playground-messages.js");
            const { conversation } = await import(new URL(script, location));
            const how = { line: "", people: [], scene: () => ({}), open: () => {} };
            const drawn = conversation(messages, how).map(([, draw]) => draw());
            const articles = drawn.filter((one) => one.matches("article"));
            return articles.map((one) => Boolean(one.querySelector(".head")));
        }""",
        [source, messages],
    )
    return shown


def test_messages_in_a_row_have_one_head(page: Page) -> None:
    noon = 1_780_315_200
    empty: dict[str, list[object]] = {"blocks": [], "replies": [], "files": []}
    messages = [
        {"ts": f"{noon + seconds}.000100", "text": "words", **empty, **more}
        for seconds, more in (
            (0, {}),
            (60, {}),
            (359, {}),
            (800, {}),
            (810, {"ephemeral": True}),
            (820, {}),
            (830, {"reply_broadcast": True}),
        )
    ]

    assert heads(page, messages) == [True, False, False, True, True, True, True]


# Texts in mrkdwn, and parts of the HTML that they become.
DRAWN = {
    "*bold* _slanted_ ~gone~": ["<strong>bold</strong>", "<em>slanted</em>", "<s>gone</s>"],
    "`a_b_c` *b _i_*": ["<code>a_b_c</code>", "<strong>b <em>i</em></strong>"],
    "<@U1> &amp; <!here>": ["@Ada", "&amp;", "@here"],
    "&lt;!channel&gt; 2*3*4": ["&lt;!channel&gt; 2*3*4"],
    "<https://a.example/?b=1|there>": ['<a href="https://a.example/?b=1"', ">there</a>"],
    "<javascript:alert(1)|there>": [">there<"],
    "&gt; said\n> twice\nafter": ["<blockquote>said<br>twice</blockquote>after"],
    "```\n*as is*\n```": ["<pre>*as is*\n</pre>", ">Copy</button>"],
    "<img src=x onerror=alert(1)>": ["img src=x onerror=alert(1)"],
}


def test_text_is_drawn_as_slack_shows_it(page: Page) -> None:
    for text, parts in DRAWN.items():
        html = drawn(page, section(text))

        assert [part for part in parts if part not in html] == [], html
        assert "<img" not in html
        assert "javascript:" not in html


def test_every_kind_of_block_and_element_has_a_picture(page: Page) -> None:
    plain = {"type": "plain_text", "text": "words"}
    options = [{"text": plain, "value": "1"}]
    elements: list[dict[str, object]] = [
        {"type": kind, "action_id": kind, "options": options, "text": plain}
        for kind in (
            *("static_select", "external_select", "users_select", "channels_select"),
            "multi_external_select",
            *("conversations_select", "multi_static_select", "radio_buttons", "checkboxes"),
            *("datepicker", "timepicker", "plain_text_input", "number_input", "overflow"),
            *("email_text_input", "url_text_input", "button"),
        )
    ]
    blocks: list[dict[str, object]] = [
        {"type": "header", "text": plain},
        {"type": "divider"},
        {"type": "context", "elements": [plain]},
        {"type": "image", "alt_text": "words", "image_url": "https://a.example/b.png"},
        {"type": "alert", "text": plain, "level": "warning"},
        {
            "type": "card",
            "title": plain,
            "subtitle": plain,
            "body": plain,
            "actions": [elements[-1]],
        },
        {"type": "table", "rows": [[{"type": "raw_text", "text": "words"}]]},
    ]
    blocks += [{"type": "actions", "elements": [element]} for element in elements]

    html = drawn(page, blocks)

    assert "cannot draw" not in html
    assert "cannot draw" in drawn(page, [{"type": "hologram"}])
    # The card's title is also its name.
    assert html.count("words") == 19


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def blocks_of(text: str) -> list[dict[str, Any]]:
    """Every place for text in the blocks that Hiatus sends."""
    cell = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    link = {"type": "rich_text_section", "elements": [{"type": "link", "url": text, "text": text}]}
    button = {"type": "button", "action_id": "a", "text": plain(text), "value": text}
    menu = {"type": "overflow", "action_id": "o", "options": [{"text": plain(text), "value": "1"}]}
    return [
        {"type": "header", "block_id": "0", "text": plain(text)},
        {
            "type": "section",
            "block_id": "1",
            "text": mrkdwn(text),
            "fields": [mrkdwn(text), plain(text)],
            "accessory": menu,
        },
        {"type": "context", "block_id": "2", "elements": [mrkdwn(text)]},
        {
            "type": "card",
            "block_id": "3",
            "title": mrkdwn(text),
            "subtitle": mrkdwn(text),
            "body": mrkdwn(text),
            "actions": [
                button | {"style": "primary"},
                button | {"action_id": "b", "style": "danger"},
            ],
        },
        {
            "type": "table",
            "block_id": "4",
            "rows": [
                [{"type": "raw_text", "text": text}, {"type": "raw_text", "text": "Mo"}],
                [
                    {"type": "rich_text", "elements": [cell, link]},
                    {"type": "raw_number", "value": 7, "text": "7"},
                ],
            ],
            "column_settings": [{"is_wrapped": True}, {"align": "right"}],
        },
        {
            "type": "image",
            "block_id": "5",
            "alt_text": text,
            "image_url": "https://a.example/b.png",
        },
    ]


def form_of(text: str) -> dict[str, Any]:
    """A form with an alert and the usual fields."""
    options = [{"text": plain(text), "value": "1"}, {"text": plain("Other"), "value": "2"}]
    fields: list[dict[str, Any]] = [
        {"type": "static_select", "options": options},
        {"type": "radio_buttons", "options": options},
        {"type": "checkboxes", "options": options},
        {"type": "datepicker"},
        {"type": "plain_text_input", "multiline": True},
        {"type": "external_select", "placeholder": plain(text)},
    ]
    inputs = [
        {
            "type": "input",
            "block_id": field["type"],
            "label": plain(text),
            "hint": plain(text),
            "element": field | {"action_id": field["type"]},
        }
        for field in fields
    ]
    alert = {"type": "alert", "block_id": "alert", "level": "error", "text": mrkdwn(text)}
    return {
        "id": "V1",
        "hash": "1",
        "title": text[:24],
        "submit": "Send",
        "close": "Cancel",
        "blocks": [alert, *inputs],
        "values": {},
        "depth": 2,
    }


def reply(number: int, text: str, **changes: Any) -> dict[str, Any]:
    first = {"thread_ts": message(1, "")["ts"], "replied_to": "Ada requested leave"}
    return message(number, text, **first | changes)


def with_thread() -> list[dict[str, Any]]:
    """A conversation: a request with two replies, the second one sent to all."""
    quiet, loud = reply(2, "Edited"), reply(3, "Approved", reply_broadcast=True)
    return [message(1, "Ada requested leave", replies=[quiet, loud]), loud]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text(browser: Browser, server: Server, text: str) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        screens = Screens(page, text, "Grace", "Henrik")
        answer = reply(3, text, reply_broadcast=True, replied_to=text)
        first = message(1, text, replies=[answer])
        screens.show(first, message(2, text, blocks=blocks_of(text)), answer, modal=form_of(text))
        page.goto(f"{server.url}/playground")
        expect(amir(page).get_by_role("dialog")).to_be_visible()

        assert page.locator(f"main :is({ACTIVE})").count() == 0
        hrefs = page.locator("a[href]").evaluate_all("links => links.map(link => link.protocol)")
        assert set(hrefs) == {"http:"}


@pytest.mark.parametrize(("scheme", "width"), SCREENS)
def test_conversations_forms_and_the_tour_are_accessible(
    browser: Browser, server: Server, scheme: Scheme, width: int
) -> None:
    view = {"viewport": {"width": width, "height": 800}, "color_scheme": scheme}
    with opened(browser, **view) as page:
        screens = Screens(page, "Ada Lovelace", "Grace Hopper", "Henrik Lund")
        screens.show(*with_thread(), message(4, "More", blocks=blocks_of("*More* to read")))
        page.goto(f"{server.url}/playground")
        expect(page.get_by_role("region", name="Tour")).to_contain_text("Step 1 of 5")
        ada = amir(page)
        assert violations(page) == []

        ada.get_by_role("button", name="2 replies").click()
        assert violations(page) == []

        screens.show(*with_thread(), message(5, "New"), modal=form_of("Leave type"))
        expect(ada.get_by_role("dialog")).to_be_visible()
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

        home = {"id": "V2", "hash": "1", "title": "", "values": {}, "depth": 0}
        heading = {"type": "header", "text": {"type": "plain_text", "text": "Your leave"}}
        blocks = [*blocks_of("Home"), heading]
        screens.show(home=home | {"submit": None, "close": None, "blocks": blocks})
        ada.get_by_role("tab", name="Home").click()
        expect(ada.get_by_role("tabpanel")).to_contain_text("Home")
        assert violations(page) == []


def test_a_thread_has_the_replies_and_a_broadcast_one_is_in_the_conversation(
    browser: Browser, server: Server
) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        Screens(page, "Ada", "Grace", "Henrik").show(*with_thread())
        page.goto(f"{server.url}/playground")
        ada = amir(page)
        bar = ada.get_by_role("button", name="2 replies")
        expect(ada.get_by_role("article")).to_have_count(2)
        expect(ada.get_by_role("article").last).to_contain_text(
            "replied to a thread: Ada requested leave"
        )

        bar.click()
        expect(ada.get_by_role("heading", name="Thread")).to_be_visible()
        expect(ada.get_by_role("article")).to_have_count(3)
        expect(ada.get_by_role("article").nth(1)).to_contain_text("Edited")
        expect(ada.get_by_role("button", name="Close thread")).to_be_focused()

        page.keyboard.press("Escape")
        expect(ada.get_by_role("heading", name="Thread")).to_be_hidden()
        expect(bar).to_be_focused()


def test_new_messages_are_marked_counted_and_read_aloud(browser: Browser, server: Server) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        screens = Screens(page, "Ada", "Grace", "Henrik")
        screens.show(message(1, "Old"))
        page.goto(f"{server.url}/playground?as=Ada")
        ada, tab = amir(page), amir(page).get_by_role("tab", name="Hiatus")
        expect(ada.get_by_role("article")).to_have_count(1)

        screens.show(message(1, "Old, edited", edited=True), message(2, "*Approved* :tada:"))
        expect(tab).to_have_accessible_name("Hiatus 1 new")
        expect(ada.get_by_text("New", exact=True)).to_be_visible()
        expect(page.get_by_role("log")).to_have_text("Ada, Hiatus: Approved 🎉")

        ada.get_by_role("article").last.click()
        expect(tab).to_have_accessible_name("Hiatus")


def test_a_link_to_home_in_a_menu_opens_the_home_tab(browser: Browser, server: Server) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        screens = Screens(page, "Ada", "Grace", "Henrik")
        home = {"text": plain("Home"), "value": "home", "url": "slack://app?team=T1&id=A1&tab=home"}
        menu = {"type": "overflow", "action_id": "o", "options": [home]}
        block = {"type": "section", "block_id": "1", "text": mrkdwn("A card"), "accessory": menu}
        screens.show(message(1, "A card", blocks=[block]))
        page.goto(f"{server.url}/playground?as=Ada")

        amir(page).get_by_label("More actions").click()
        amir(page).get_by_role("button", name="Home").click()

        expect(amir(page).get_by_role("tab", name="Home")).to_have_attribute(
            "aria-selected", "true"
        )


@pytest.mark.parametrize(
    ("link", "names"),
    [
        ("?as=grace", ["Grace Okafor"]),
        ("?as=Henrik,amir", ["Henrik Lund", "Amir Rahimi"]),
        ("?as=grace%20okafor&tab=home", ["Grace Okafor"]),
    ],
)
def test_a_link_shows_the_people_it_names(
    browser: Browser, server: Server, link: str, names: list[str]
) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{server.url}/playground{link}")
        choosers = page.get_by_label("Who is this?")
        expect(choosers).to_have_count(len(names))

        shown = [
            choosers.nth(at).locator("option:checked").inner_text() for at in range(len(names))
        ]

        assert shown == names
        if "tab=home" in link:
            expect(page.get_by_role("tabpanel")).to_contain_text("days left")


def test_a_link_with_an_unknown_name_shows_the_usual_people(
    browser: Browser, server: Server
) -> None:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        page.goto(f"{server.url}/playground?as=<b>eve")

        expect(page.get_by_role("alert")).to_have_text("No one here is called “<b>eve”.")
        expect(page.get_by_label("Who is this?")).to_have_count(3)


def test_the_tour_follows_what_newcomers_do_and_is_offered_once(page: Page) -> None:
    tour = page.get_by_role("region", name="Tour")
    expect(tour).to_contain_text("Step 1 of 5")

    amir(page).get_by_role("button", name="Send").click()
    expect(tour).to_contain_text("Step 2 of 5")
    amir(page).get_by_role("dialog").get_by_role("button", name="Close all").click()
    for step in (3, 4, 5):
        tour.get_by_role("button", name="Next").click()
        expect(tour).to_contain_text(f"Step {step} of 5")
    tour.get_by_role("button", name="Finish").click()
    expect(tour).to_be_hidden()

    page.reload()
    expect(grace(page).get_by_role("button", name="Approve")).to_be_visible()
    expect(tour).to_be_hidden()
    page.get_by_role("button", name="Tour").click()
    expect(tour).to_contain_text("Step 1 of 5")
    tour.get_by_role("button", name="Skip the tour").click()
    expect(tour).to_be_hidden()


def test_a_person_reads_another_language(page: Page) -> None:
    grace(page).get_by_role("tab", name="Home").click()
    expect(grace(page).get_by_role("tabpanel")).to_contain_text("Your leave")

    grace(page).get_by_label("Language").select_option("de-DE")

    expect(grace(page).get_by_role("tabpanel")).to_contain_text("Deine Abwesenheiten")
