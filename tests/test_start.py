"""The start of a process."""

from __future__ import annotations

import gc

from serve import made_for_good


def test_what_is_made_at_the_start_is_exempt_from_garbage_collection() -> None:
    before = gc.get_freeze_count()
    try:
        with made_for_good():
            assert not gc.isenabled()
            made = [[number] for number in range(1_000)]

        assert gc.isenabled()
        assert gc.get_freeze_count() >= before + len(made)
    finally:
        gc.unfreeze()
