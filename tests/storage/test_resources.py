"""What storage does alike for everything that admins manage: who may, whose it is, and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from storage.admin import (
    channel_digests,
    departments,
    employment_records,
    holiday_overrides,
    holiday_set_changes,
    organisation_settings,
    people,
    people_status,
)
from storage.admin.holiday_overrides import NewOverride
from storage.base.errors import InsufficientRole, NotFound
from storage.base.event_values import Webhook
from storage.base.values import Caller
from storage.calendars import display_links
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.leave import leave_types
from storage.outbox import organisation_config
from storage.people import holiday_sets
from storage.webhooks import webhooks
from tests.builders import NOW, Acme, a_department, a_person, an_organisation, caller_for, type_id
from tests.refusals import codes_of

pytestmark = pytest.mark.both_engines


@dataclass(frozen=True, kw_only=True, slots=True)
class Managed:
    """The use cases of one kind of thing; ``new`` has the fields of one of several."""

    create: Callable[..., Any]
    page: Callable[..., Any]
    get: Callable[..., Any]
    update: Callable[..., Any]
    remove: Callable[..., Any]
    new: Callable[[int], Mapping[str, object]]
    changes: Mapping[str, object]
    newest_first: bool = False


def create_webhook(tx: Transaction, new: Mapping[str, Any], **how: Any) -> Webhook:
    return webhooks.create(tx, **new, **how)[0]


KINDS = {
    "display link": Managed(
        create=display_links.create,
        page=display_links.page,
        get=display_links.get,
        update=display_links.update,
        remove=display_links.revoke,
        new=lambda number: {"name": f"Screen {number}"},
        changes={"name": "Hall"},
    ),
    "digest": Managed(
        create=channel_digests.create,
        page=channel_digests.page,
        get=channel_digests.get,
        update=channel_digests.update,
        remove=channel_digests.delete,
        new=lambda number: {"channel": f"C{number:08}"},
        changes={"locale": "de"},
    ),
    "webhook": Managed(
        create=create_webhook,
        page=webhooks.page,
        get=webhooks.get,
        update=webhooks.update,
        remove=webhooks.delete,
        new=lambda number: {"url": f"https://example.com/{number}", "events": ["*"]},
        changes={"is_active": False},
        newest_first=True,
    ),
}


@pytest.fixture(params=KINDS.values(), ids=[*KINDS])
def kind(request: pytest.FixtureRequest) -> Managed:
    managed: Managed = request.param
    return managed


def uses_of_one(database: Database, kind: Managed, one: Any, by: Caller) -> list[Callable[[], Any]]:
    return [
        lambda: database.read_now(kind.get, one.id, by=by),
        lambda: database.write_now(kind.update, one.id, kind.changes, by=by, now=NOW),
        lambda: database.write_now(kind.remove, one.id, by=by, now=NOW),
    ]


def test_only_admins_see_and_change_it(database: Database, acme: Acme, kind: Managed) -> None:
    one = acme.write(kind.create, kind.new(0))
    by = caller_for(acme, a_person(database, acme, role="approver"))

    uses = uses_of_one(database, kind, one, by)
    uses.append(lambda: database.read_now(kind.page, PageOf(), by=by))
    uses.append(lambda: database.write_now(kind.create, kind.new(0), by=by, now=NOW))
    for use in uses:
        with pytest.raises(InsufficientRole):
            use()
    assert acme.read(kind.get, one.id) == one


def test_another_organisations_is_unknown(database: Database, kind: Managed) -> None:
    acme, rival = an_organisation(database), an_organisation(database)
    one = database.write_now(kind.create, kind.new(0), by=rival.caller, now=NOW)

    for use in uses_of_one(database, kind, one, acme.caller):
        with pytest.raises(NotFound):
            use()
    assert acme.read(kind.page, PageOf()).items == []


def test_pages_have_each_once_in_order_of_creation(database: Database, kind: Managed) -> None:
    acme = an_organisation(database)
    ids = [acme.write(kind.create, kind.new(number)).id for number in range(5)]

    first = acme.read(kind.page, PageOf(limit=3))
    rest = acme.read(kind.page, PageOf(limit=3, cursor=first.next_cursor))

    assert [each.id for each in (*first.items, *rest.items)] == (
        ids[::-1] if kind.newest_first else ids
    )
    assert rest.next_cursor is None


def test_only_admins_change_people_and_settings(database: Database, acme: Acme) -> None:
    ada, team = a_person(database, acme), a_department(database, acme)
    annual, day = type_id(database, acme), NewOverride(date=NOW.date(), name="Market day")
    config = database.read_now(organisation_config.of_organisation, acme.id)
    set_id = next(iter(config.holiday_sets))
    by = caller_for(acme, a_person(database, acme, role="approver"))
    new = {"email": "eve@example.com", "first_name": "Eve", "last_name": "Eden"}
    changes: list[Any] = [
        (people.create, new),
        (people.update, ada.id, {"first_name": "A"}),
        (people.restore, ada.id),
        (people_status.archive, ada.id),
        (people_status.deactivate, ada.id),
        (people_status.reactivate, ada.id),
        (employment_records.add, ada.id, {"valid_from": NOW.date()}),
        (employment_records.update, ada.id, ada.id, {}),
        (employment_records.remove, ada.id, ada.id),
        (departments.create, {"name": "Mine"}),
        (departments.update, team.id, {}),
        (departments.delete, team.id),
        (leave_types.create, {"name": "Mine"}),
        (leave_types.update, annual, {}),
        (leave_types.delete, annual),
        (organisation_settings.update, {"name": "Mine"}),
        (holiday_sets.add, "FR"),
        (holiday_set_changes.change_categories, set_id, ["public"]),
        (holiday_set_changes.remove, set_id),
        (holiday_overrides.add, set_id, day),
        (holiday_overrides.remove, set_id, set_id),
    ]

    def run(change: Callable[..., Any], *about: Any) -> None:
        database.write_now(change, *about, by=by, now=NOW)

    codes = codes_of(*(partial(run, *change) for change in changes))

    assert codes == ["insufficient_role"] * len(changes)
