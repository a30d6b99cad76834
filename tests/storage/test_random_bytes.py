from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from storage.base.ids import random_bytes


def test_concurrent_callers_never_get_the_same_bytes() -> None:
    with ThreadPoolExecutor(8) as pool:
        chunks = list(pool.map(random_bytes, [8, 16] * 2_000))

    assert {len(chunk) for chunk in chunks} == {8, 16}
    assert len({chunk[:8] for chunk in chunks}) == len(chunks)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_does_not_repeat_its_parent() -> None:
    random_bytes(16)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.write(writing, random_bytes(16))
        os._exit(0)
    of_parent = random_bytes(16)
    os.waitpid(child, 0)
    of_child = os.read(reading, 16)
    os.close(reading)
    os.close(writing)

    assert len(of_child) == 16
    assert of_child != of_parent
