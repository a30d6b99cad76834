"""The payroll file of the settings: a file in the conversation, or a link that works once."""

from __future__ import annotations

import csv
import io
from datetime import date, timedelta
from urllib.parse import urlsplit

import pytest

from storage.admin import people
from storage.reports import report_links
from tests.bot.test_settings_access import settings
from tests.bot.test_settings_admin import admin
from tests.bot.world import ADA, ADMIN, World
from tests.builders import approved_leave
from tests.fakes.slack import View

__all__ = ["admin"]

pytestmark = pytest.mark.usefixtures("admin")


def form(world: World) -> View:
    return settings(world, ADMIN, "settings.payroll")


def ask(world: World, month: str | None = None) -> None:
    values = {} if month is None else {"month": month}
    assert world.slack.submit(ADMIN, form(world), values).errors == {}
    world.settled()


def test_the_file_of_last_month_is_sent_where_the_app_may_send_files(world: World) -> None:
    world.slack.team().scopes.add("files:write")
    ada = world.people[ADA]
    world.database.write_now(
        people.update,
        ada.id,
        {"employee_number": "0042"},
        by=world.acme.caller,
        now=world.clock(),
    )
    today = world.clock().date()
    month_end = today.replace(day=1) - timedelta(days=1)
    monday = month_end - timedelta(days=month_end.weekday() + 7)
    approved_leave(world.database, world.acme, ada, monday)

    ask(world)

    message = world.slack.messages[-1]
    (file,) = message.files
    first_day = month_end.replace(day=1)
    assert file.name == f"leave-{first_day}-{month_end}.csv"
    assert file.content is not None
    (row,) = csv.DictReader(io.StringIO(file.content.decode("utf-8-sig"), newline=""))
    assert (row["employee_number"], row["leave_type_code"], row["days"]) == ("0042", "annual", "1")
    assert world.slack.messages[-2].text.startswith("Here is the payroll file for ")
    assert message.user == ADMIN
    assert "I'm sending you the file" in world.slack.open_modal(ADMIN).visible_text


def test_without_that_scope_a_link_works_once_and_for_a_day(world: World) -> None:
    ask(world, "2026-02-01")

    message = world.slack.messages[-1]
    assert "payroll file for February 2026" in message.text
    (button,) = message.buttons
    url = str(button.element["url"])
    token = urlsplit(url).path.removeprefix(report_links.PATH)

    def opened(now_days: float = 0, of: str = token) -> bool:
        now = world.clock() + timedelta(days=now_days)
        return world.database.write_now(report_links.open_once, of, now=now) is not None

    assert [opened(2), opened(0, of=token[:-2]), opened(), opened()] == [False, False, True, False]


def test_a_link_of_a_person_who_is_no_admin_any_more_opens_nothing(world: World) -> None:
    ask(world)
    (button,) = world.slack.messages[-1].buttons
    token = urlsplit(str(button.element["url"])).path.removeprefix(report_links.PATH)

    world.database.write_now(
        people.update,
        world.people[ADMIN].id,
        {"role": "member"},
        by=world.acme.caller,
        now=world.clock(),
    )

    opened = world.database.write_now(report_links.open_once, token, now=world.clock())
    assert opened is None


def test_the_months_of_a_year_are_offered_and_last_month_is_chosen(world: World) -> None:
    shown = form(world)

    (select,) = [block["element"] for block in shown.blocks if block.get("block_id") == "month"]
    values = [option["value"] for option in select["options"]]
    this_month = world.clock().date().replace(day=1)
    assert (len(values), values[0]) == (13, str(this_month))
    last_month = (this_month - timedelta(days=1)).replace(day=1)
    assert select["initial_option"]["value"] == str(last_month)
    assert date.fromisoformat(values[-1]).month == this_month.month
