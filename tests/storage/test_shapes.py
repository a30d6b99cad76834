from __future__ import annotations

from storage.base.shapes import record
from storage.base.values import Department
from tests.builders import NOW


def test_clients_see_public_names_days_and_nothing_hidden() -> None:
    department = Department(
        id="0197c2a4-4f02-7b55-a1d0-93c85e7f2103",
        name="Research",
        manager_id=None,
        default_leave_allowance_half_days=55,
        created_at=NOW,
        updated_at=NOW,
        version=3,
    )

    assert record(department) == {
        "id": department.id,
        "name": "Research",
        "manager_id": None,
        "default_leave_allowance": 27.5,
        "created_at": NOW,
    }
