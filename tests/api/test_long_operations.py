from __future__ import annotations

from api.service import app


def test_operations_with_a_dry_run_are_long() -> None:
    """They change the leave of many users, which takes many milliseconds."""
    with_dry_run = [one for one in app.OPERATIONS if one.show_effects]

    assert with_dry_run
    assert [one.operation_id for one in with_dry_run if not one.is_long] == []
