from __future__ import annotations

from api.service import app


def test_operations_with_a_dry_run_are_long() -> None:
    """They change the leave of many users, which takes many milliseconds."""
    with_dry_run = [operation for operation in app.OPERATIONS if operation.dry_run]

    assert with_dry_run
    assert [operation.operation_id for operation in with_dry_run if not operation.is_long] == []
