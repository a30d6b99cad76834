from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from storage.base.values import User
from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import a_department, a_key, a_person, an_organisation

pytestmark = pytest.mark.shared_database

USERS = "/api/v1/users"


def test_the_first_variant_is_an_array_of_full_users_of_every_status(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    a_person(database, acme, first_name="Ada", status="archived")

    users = client.get(USERS, a_key(database, acme)).json()

    assert sorted(user["status"] for user in users) == ["active", "archived"]
    assert "working_days" in users[0]


def test_the_second_variant_is_an_object_of_short_users(client: Client, database: Database) -> None:
    acme = an_organisation(database)

    listed = client.get(USERS, a_key(database, acme, variant=2)).json()

    assert set(listed) == {"users"}
    assert set(listed["users"][0]) == {
        "id",
        "email",
        "first_name",
        "last_name",
        "role",
        "department_id",
        "start_date",
        "status",
    }


def test_the_header_overrides_the_keys_variant(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)

    assert "users" in client.get(USERS, key, headers={"API-Variant": "2"}).json()
    assert client.get(USERS, key, headers={"API-Variant": "3"}).status_code == 422
    assert client.get(USERS, key, headers={"API-Variant": ""}).status_code == 422


def test_either_variant_is_wrapped_when_a_page_is_requested(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    a_person(database, acme)

    for variant, is_full in ((1, True), (2, False)):
        page = client.get(f"{USERS}?limit=1", a_key(database, acme, variant=variant)).json()
        assert len(page["data"]) == 1
        assert page["pagination"]["has_more"] is True
        assert ("working_days" in page["data"][0]) is is_full


def test_filters_narrow_the_list(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", role="approver", status="deactivated")
    key = a_key(database, acme)

    def ids(query: str) -> list[str]:
        return [user["id"] for user in client.get(f"{USERS}?{query}", key).json()]

    assert ids(f"department_id={department.id}") == [ada.id]
    assert ids("role=approver") == [grace.id]
    assert ids("status=deactivated") == [grace.id]
    assert client.get(f"{USERS}?status=gone", key).status_code == 422


def test_what_only_payroll_and_approvers_need_is_null_for_colleagues(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    grace = a_person(database, acme, first_name="Grace", role="approver")
    ada = a_person(
        database,
        acme,
        manager_id=grace.id,
        end_date=date(2026, 9, 30),
        leave_allowance_half_days=55,
        employee_number="0042",
    )
    hedy = a_person(database, acme, first_name="Hedy", role="approver")

    def private(reader: User) -> list[list[object]]:
        key = a_key(database, acme, user=reader)
        one = client.get(f"{USERS}/{ada.id}", key).json()
        # The plain list, and the second of two pages.
        everyone = client.get(USERS, key).json()
        page = client.get(f"{USERS}?limit=2", key).json()
        cursor = page["pagination"]["next_cursor"]
        rest = client.get(f"{USERS}?limit=2&cursor={cursor}", key).json()["data"]
        listed = [user for user in (*everyone, *rest) if user["id"] == ada.id]
        assert len(listed) == 2
        fields = ("end_date", "leave_allowance", "employee_number")
        return [[user[field] for field in fields] for user in (one, *listed)]

    for reader in (acme.owner, ada, grace):
        assert private(reader) == [["2026-09-30", 27.5, "0042"]] * 3
    assert private(hedy) == [[None, None, None]] * 3


def test_admins_find_a_person_by_employee_number_and_others_cannot_probe_for_it(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    ada = a_person(database, acme, employee_number="0042")
    a_person(database, acme, first_name="Hedy", employee_number="42")

    found = client.get(f"{USERS}?employee_number=0042", key).json()
    refused = client.get(f"{USERS}?employee_number=42", a_key(database, acme, user=ada))

    assert [user["id"] for user in found] == [ada.id]
    assert (refused.status_code, refused.json()["code"]) == (403, "insufficient_role")


def test_an_employee_number_belongs_to_one_person(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    a_person(database, acme, first_name="Hedy", employee_number="42")
    ada = {"email": "ada@x.ie", "first_name": "Ada", "last_name": "L", "employee_number": " 42 "}

    taken = client.post(USERS, key, json=ada)
    made = client.post(USERS, key, json=ada | {"employee_number": "E/0042"})
    too_long = client.patch(f"{USERS}/{made.json()['id']}", key, json={"employee_number": "4" * 51})

    assert (taken.status_code, taken.json()["code"]) == (409, "employee_number_taken")
    assert (made.status_code, made.json()["employee_number"]) == (201, "E/0042")
    assert too_long.status_code == 422


def test_a_person_is_hired_again_with_a_first_day(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    ada = a_person(database, acme, start_date=date(2026, 1, 5), status="archived")
    hedy = a_person(database, acme, first_name="Hedy")
    path = f"{USERS}/{ada.id}"
    again = {"start_date": "2026-09-01"}

    response = client.post(f"{path}/restore", key, json=again)

    restored = response.json()
    assert (response.status_code, restored["start_date"]) == (200, "2026-09-01")
    earlier = [{"start_date": "2026-01-05", "end_date": "2026-06-01"}]
    assert restored["earlier_employment"] == earlier
    assert client.post(f"{path}/restore", key, json=again).json() == restored
    assert client.patch(path, key, json=restored).json() == restored
    other = client.post(f"{path}/restore", key, json={"start_date": "2026-10-01"})
    assert [error["code"] for error in other.json()["errors"]] == ["user_not_archived"]
    assert client.get(path, a_key(database, acme, hedy)).json()["earlier_employment"] == []


@pytest.mark.both_engines
def test_an_approver_of_the_department_reads_the_last_days_of_its_members_only(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    space, sea = a_department(database, acme), a_department(database, acme, name="Sea")
    leaving = date(2026, 9, 30)
    ada = a_person(database, acme, department_id=space.id, end_date=leaving)
    kim = a_person(database, acme, first_name="Kim", department_id=sea.id, end_date=leaving)
    grace = a_person(
        database,
        acme,
        first_name="Grace",
        role="approver",
        department_id=space.id,
        end_date=leaving,
    )
    key = a_key(database, acme, user=grace)

    shown = {user["id"]: user["end_date"] for user in client.get(USERS, key).json()}

    assert (shown[ada.id], shown[grace.id]) == ("2026-09-30", "2026-09-30")
    assert shown[kim.id] is None


def test_the_tag_of_what_one_reader_sees_does_not_stand_for_what_another_sees(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, end_date=date(2026, 9, 30))
    hedy = a_person(database, acme, first_name="Hedy")
    path = f"{USERS}/{ada.id}"
    admin_key, colleague_key = a_key(database, acme), a_key(database, acme, user=hedy)
    seen_by_admin = client.get(path, admin_key).headers["ETag"]
    seen_by_colleague = client.get(path, colleague_key)

    assert seen_by_colleague.headers["Cache-Control"] == "private, no-cache"
    assert "Authorization" in seen_by_colleague.headers["Vary"]
    etag = {"If-None-Match": seen_by_admin}
    assert client.get(path, colleague_key, headers=etag).status_code == 200
    stale = {"If-Match": seen_by_colleague.headers["ETag"]}
    body = {"job_title": "Analyst"}
    assert client.patch(path, admin_key, json=body, headers=stale).status_code == 412
    current = {"If-Match": seen_by_admin}
    assert client.patch(path, admin_key, json=body, headers=current).status_code == 200


def test_users_can_send_their_whole_record_back(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme, working_days=["monday", "friday:am"])
    key = a_key(database, acme, ada)
    path = f"{USERS}/{ada.id}"
    whole: dict[str, Any] = client.get(path, key).json()

    renamed = client.patch(path, key, json=whole | {"last_name": "King"})
    promoted = client.patch(path, key, json=whole | {"role": "owner"})

    assert (renamed.status_code, renamed.json()["last_name"]) == (200, "King")
    assert (promoted.status_code, promoted.json()["code"]) == (403, "field_not_yours")
    assert promoted.json()["fields"] == ["role"]
