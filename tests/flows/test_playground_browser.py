"""The playground in a browser, as a person who tries Hiatus uses it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.flows.days import free_monday
from tests.flows.playground_page import amir, grace, henrik, is_trouble, opened, say
from tests.flows.running import ROOT, Deployment, Server

pytestmark = pytest.mark.slow


@pytest.fixture
def server(sqlite_url: str) -> Iterator[Server]:
    with Deployment(sqlite_url).serving("--demo") as server:
        yield server
        server.stop()
        assert [line for line in server.logged().splitlines() if is_trouble(line)] == []


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with opened(browser, viewport={"width": 1280, "height": 800}) as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page.goto(f"{server.url}/playground")
        expect(grace(page).get_by_role("button", name="Approve")).to_be_visible()
        yield page


def two_working_days() -> tuple[str, str]:
    """A Tuesday and Wednesday, months from today."""
    tuesday = free_monday(weeks_ahead=15) + timedelta(days=1)
    return tuesday.isoformat(), (tuesday + timedelta(days=1)).isoformat()


def open_form_for_unpaid_leave(page: Page) -> Locator:
    say(amir(page), "/timeoff")
    form = amir(page).get_by_role("dialog")
    kinds = form.get_by_label("Leave type")
    unpaid = kinds.locator("option", has_text="Unpaid leave").get_attribute("value")
    kinds.select_option(unpaid)
    return form


def choose_two_days(form: Locator) -> None:
    first, last = two_working_days()
    form.get_by_label("First day").fill(first)
    # The form moves the last day to the first.
    expect(form.get_by_label("Last day")).to_have_value(first)
    form.get_by_label("Last day").fill(last)


def ask_for_a_day_and_a_half(page: Page, note: str) -> None:
    form = open_form_for_unpaid_leave(page)
    choose_two_days(form)
    form.get_by_label("Ends").select_option(label="At midday on the last day")
    form.get_by_label("Note").fill(note)
    expect(form).to_contain_text("1.5 days")
    form.get_by_role("button", name="Send").click()
    expect(form).to_be_hidden()
    expect(amir(page).get_by_role("article").last).to_contain_text("1.5 days")


def test_a_request_is_filled_in_sent_and_declined_with_a_reason(page: Page) -> None:
    ask_for_a_day_and_a_half(page, "My sister's wedding")

    card = grace(page).get_by_role("article").filter(has_text="1.5 days")
    expect(card).to_contain_text("My sister's wedding")
    card.get_by_role("button", name="Decline").click()
    reason = grace(page).get_by_role("dialog")
    reason.get_by_role("textbox").fill("We launch that week.")
    reason.get_by_role("button", name="Decline").click()

    expect(card).to_contain_text("Declined by you")
    expect(card.get_by_role("button", name="Approve")).to_have_count(0)
    expect(amir(page).get_by_role("article").last).to_contain_text("We launch that week.")


def test_a_pending_request_can_be_changed(page: Page) -> None:
    ask_for_a_day_and_a_half(page, "Moving <!channel> & *house*")

    amir(page).get_by_role("article").last.get_by_role("button", name="Edit").click()
    form = amir(page).get_by_role("dialog", name="Edit request")
    form.get_by_label("Ends").select_option(label="At the end of the last day")
    expect(form).to_contain_text("2 days")
    form.get_by_role("button", name="Save").click()

    expect(form).to_be_hidden()
    card = grace(page).get_by_role("article").filter(has_text="*house*").first
    expect(card).to_contain_text("2 days")
    expect(card).to_contain_text("Moving <!channel> & *house*")


def test_the_form_counts_the_last_pick_although_an_earlier_one_is_slow(page: Page) -> None:
    held: list[Route] = []

    def hold_the_first_pick(route: Route) -> None:
        if '"kind":"pick"' in (route.request.post_data or "") and not held:
            held.append(route)
        else:
            route.continue_()

    form = open_form_for_unpaid_leave(page)
    choose_two_days(form)
    expect(form).to_contain_text("2 days")
    page.route("**/playground/act", hold_the_first_pick)
    form.get_by_label("Starts").select_option(label="At midday on the first day")
    form.get_by_label("Ends").select_option(label="At midday on the last day")
    # A page that did not wait for the first pick would send the others by now.
    page.wait_for_timeout(1_000)
    while not held:
        page.wait_for_timeout(100)
    held[0].continue_()
    page.wait_for_timeout(1_000)

    expect(form).to_contain_text("1 day")


def test_another_website_in_the_same_browser_cannot_act(page: Page, server: Server) -> None:
    website = page.context.new_page()
    # The same server under another name is another origin.
    website.goto(f"{server.url.replace('127.0.0.1', 'localhost')}/healthz")

    with page.context.expect_event("response") as answered:
        website.evaluate(
            "url => fetch(url, {method: 'POST', mode: 'no-cors', body: '{}'}).then(() => 0)",
            f"{server.url}/playground/reset",
        )

    assert answered.value.status == 403
    expect(grace(page).get_by_role("button", name="Approve")).to_be_visible()


def test_an_admin_adds_a_person_and_sees_the_effects_of_another_manager(page: Page) -> None:
    who, dialog = henrik(page), henrik(page).get_by_role("dialog")
    who.get_by_role("tab", name="Home").click()
    open_settings(who, "People")

    dialog.get_by_role("button", name="Add a person").click()
    address = dialog.get_by_role("textbox", name="E-mail address")
    address.fill("lise")
    dialog.get_by_label("First name").fill("Lise")
    dialog.get_by_label("Last name").fill("Meitner")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text("Enter an e-mail address such as ada@example.com.")
    expect(address).to_have_value("lise")
    expect(address).to_be_focused()
    address.fill("lise@example.com")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_contain_text("Hasn't used Hiatus yet")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_contain_text("Find someone to edit")
    dialog.get_by_role("combobox").fill("Amir")
    dialog.get_by_role("option", name="Amir Rahimi").click()
    dialog.get_by_label("Manager").fill("Henrik")
    dialog.get_by_role("option", name="Henrik Lund").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_contain_text("1 request moves to other approvers.")
    expect(dialog).to_contain_text("Grace Okafor → Henrik Lund")
    dialog.get_by_role("button", name="Save").click()

    expect(dialog).to_contain_text("Find someone to edit")
    dialog.get_by_role("button", name="Close", exact=True).last.click()
    who.get_by_role("tab", name="Hiatus").click()
    expect(who.get_by_role("button", name="Approve: Amir Rahimi")).to_be_visible()


def test_leave_is_cancelled_on_the_home_tab_after_confirmation(page: Page) -> None:
    amir(page).get_by_role("tab", name="Home").click()
    home = amir(page).get_by_role("tabpanel")
    leave = home.locator(".block").filter(has_text="Awaiting a decision")
    question = page.get_by_role("dialog", name="Cancel this leave?")

    for answer in ("Keep it", "Cancel leave"):
        expect(leave).to_be_visible()
        leave.locator("details.overflow summary").click()
        leave.get_by_role("button", name="Cancel leave…").click()
        question.get_by_role("button", name=answer).click()
        expect(question).to_be_hidden()

    expect(leave).to_be_hidden()
    expect(grace(page).get_by_role("article").first).to_contain_text("Cancelled")
    expect(grace(page).get_by_role("button", name="Approve")).to_have_count(0)


def copied(page: Page, dialog: Locator) -> str:
    """The text that the first Copy button puts onto the clipboard."""
    button = dialog.get_by_role("button", name="Copy").first
    button.click()
    expect(dialog.get_by_role("button", name="Copied")).to_be_visible()
    text: str = page.evaluate("navigator.clipboard.readText()")
    return text


def open_settings(who: Locator, name: str) -> None:
    """Open a screen from the menu of the settings on Home."""
    who.get_by_role("button", name="Settings").click()
    who.get_by_role("dialog").get_by_role("button", name=name, exact=True).click()


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_user_creates_a_key_and_copies_a_feed_link(
    page: Page, server: Server, number: int
) -> None:
    who = page.locator(f"#person-{number}")
    who.get_by_role("tab", name="Home").click()
    open_settings(who, "API keys")
    dialog = who.get_by_role("dialog")
    dialog.get_by_role("button", name="Create API key").click()
    dialog.get_by_label("Name").fill("ci")
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog.get_by_label("Name")).to_be_visible()  # No scope was chosen.
    dialog.get_by_label("leave:read").check()
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog).to_contain_text("You won't see it again")
    key = copied(page, dialog)
    dialog.get_by_role("button", name="Close all").click()
    expect(dialog).to_be_hidden()

    open_settings(who, "Calendar feeds and wallchart")
    expect(dialog).to_contain_text("Your leave")
    link = copied(page, dialog)

    client = server.client(key)
    assert client.get("/api/v1/leave-requests").status_code == 200
    assert client.get("/api/v1/webhooks").status_code == 403
    assert link.startswith(f"{server.url}/cal/")
    assert client.get(link).text.startswith("BEGIN:VCALENDAR")


def test_the_keyboard_is_enough(page: Page) -> None:
    line = amir(page).get_by_label("Message Hiatus")
    line.focus()
    page.keyboard.press("Enter")
    form = amir(page).get_by_role("dialog")
    expect(form.get_by_label("Leave type")).to_be_focused()

    page.keyboard.press("Escape")

    expect(form).to_be_hidden()
    expect(line).to_be_focused()
    amir(page).get_by_role("tab", name="Hiatus").focus()
    page.keyboard.press("ArrowRight")
    expect(amir(page).get_by_role("tab", name="Home")).to_be_focused()
    expect(amir(page).get_by_role("tabpanel")).to_contain_text("Your leave")


def test_typed_text_survives_a_change_of_the_form(page: Page) -> None:
    say(amir(page), "/timeoff")
    form = amir(page).get_by_role("dialog")
    form.get_by_label("Note").fill("half a sen")

    first, _ = two_working_days()
    form.get_by_label("First day").fill(first)
    say(grace(page), "/timeoff help")
    expect(grace(page).get_by_role("article").last).to_contain_text("/timeoff")

    expect(form.get_by_label("Note")).to_have_value("half a sen")
    expect(form.get_by_label("First day")).to_have_value(first)


def test_an_owner_sets_the_demo_up_by_the_checklist_alone(page: Page, server: Server) -> None:
    page.goto(f"{server.url}/playground?as=olivia&tab=home")
    home, dialog = page.get_by_role("tabpanel"), page.get_by_role("dialog")

    # The demo has leave types of its own, so no one is asked to check them.
    expect(home.get_by_role("button", name="Check the leave types")).to_be_hidden()
    home.get_by_role("button", name="Paste days left").click()
    dialog.get_by_role("button", name="Check").click()
    expect(dialog).to_be_hidden()
    home.get_by_role("button", name="Choose a channel").click()
    dialog.get_by_label("Channel").select_option(label="#general")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_be_hidden()
    home.get_by_role("button", name="Add your calendar").click()
    dialog.get_by_role("button", name="Close all").click()

    expect(home).to_contain_text("Your leave")
    expect(home).not_to_contain_text("Set up Hiatus")


def test_the_pictures_are_small() -> None:
    pictures = list(Path(ROOT / "docs" / "screenshots").glob("*.png"))

    assert pictures
    assert [picture.name for picture in pictures if picture.stat().st_size > 200_000] == []
