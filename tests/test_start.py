"""The start of a process."""

from __future__ import annotations

import gc

from api.service.process import exempt_from_collection


def test_objects_created_at_the_start_are_exempt_from_garbage_collection() -> None:
    before = gc.get_freeze_count()
    try:
        with exempt_from_collection():
            assert not gc.isenabled()
            objects = [[number] for number in range(1_000)]

        assert gc.isenabled()
        assert gc.get_freeze_count() >= before + len(objects)
    finally:
        gc.unfreeze()
