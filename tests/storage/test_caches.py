"""Caches: what is dropped, the bound that a setting lowers, and the list of all of them."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from storage.base import caches
from storage.base.caches import FIFOCache, LRUCache, MeasuredCache, cached

ROOT = Path(__file__).parents[2]

_SIZES = """
import os
import serve
from storage.base import caches
from storage.db.engines import open_database
settings = serve.Settings.from_env(os.environ)
database = open_database("postgresql:///none", settings.storage.secrets())
application = serve.build(settings, database, serve.utc_now)
import api.feeds.ical  # a server imports it with the first feed
slack = serve.slack_app(settings.slack, settings.api, database, serve.utc_now)
def print_sizes():
    print(*(size.max_size for size in caches.cache_sizes()))
print(*(size.name for size in caches.cache_sizes()))
print_sizes()
caches.limit_caches(caches.DEFAULT_MEGABYTES // 2)
print_sizes()
"""


@pytest.fixture(scope="module")
def of_server(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The names of a server's caches, their bounds, and their bounds with half the memory."""
    result = subprocess.run(
        [sys.executable, "-c", _SIZES],
        cwd=tmp_path_factory.mktemp("caches"),
        env={
            "PYTHONPATH": str(ROOT),
            "HIATUS_SLACK_BOT_TOKEN": "xoxb-1",
            "HIATUS_SLACK_SIGNING_SECRET": "secret",
        },
        capture_output=True,
        check=True,
        text=True,
    )
    return [line.split() for line in result.stdout.splitlines()]


@pytest.fixture(autouse=True)
def default_limit() -> Iterator[None]:
    yield
    caches.limit_caches(caches.DEFAULT_MEGABYTES)


def _size(name: str) -> tuple[int, int]:
    [size] = [size for size in caches.cache_sizes() if size.name == name]
    return size.size, size.max_size


def test_the_least_recently_used_value_is_evicted_first() -> None:
    cache: LRUCache[str, str] = LRUCache("test", 10, "bytes")
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    cache.get("a")

    cache.put("c", "C", 4)

    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]
    assert cache.size() == 8


def test_a_key_has_its_last_value_and_counts_once() -> None:
    cache: LRUCache[str, str] = LRUCache("test", 10, "bytes")
    cache.put("a", "A", 9)

    cache.put("a", "B", 5)
    cache.put("b", "C", 5)

    assert (cache.get("a"), cache.get("b")) == ("B", "C")
    assert cache.size() == 10


def test_a_value_larger_than_the_cache_is_not_stored_and_evicts_nothing() -> None:
    cache: LRUCache[str, str] = LRUCache("test", 10, "bytes")
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)

    cache.put("b", "long", 11)

    assert (cache.get("a"), cache.get("b")) == ("A", None)
    assert (len(cache), cache.size()) == (1, 4)


def test_the_value_that_was_added_first_is_dropped_first() -> None:
    cache: FIFOCache[str, str] = FIFOCache("test", 2)
    cache.put("a", "A")
    cache.put("b", "B")
    cache.get("a")

    assert cache.put("c", "C") == "C"

    assert [cache.get(key) for key in "abc"] == [None, "B", "C"]


def test_a_cached_function_is_called_again_only_for_arguments_that_were_dropped() -> None:
    calls: list[int] = []

    @cached("test", 2)
    def doubled(number: int) -> int:
        """Twice the number."""
        calls.append(number)
        return 2 * number

    assert [doubled(number) for number in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert calls == [1, 2, 3, 2]
    assert doubled.__doc__ == "Twice the number."


def test_a_lower_limit_applies_to_caches_that_exist_and_to_later_ones() -> None:
    calls: list[int] = []
    function = cached("function", 100)(calls.append)
    fifo: FIFOCache[int, int] = FIFOCache("fifo", 100)
    lru: LRUCache[int, int] = LRUCache("lru", 100)

    caches.limit_caches(caches.DEFAULT_MEGABYTES // 4)
    later: FIFOCache[int, int] = FIFOCache("later", 100)
    for number in range(50):
        function(number)
        fifo.put(number, number)
        lru.put(number, number)
        later.put(number, number)

    assert [_size(name) for name in ("function", "fifo", "lru", "later")] == [(25, 25)] * 4


def test_the_lowest_limit_leaves_each_cache_an_entry() -> None:
    fifo: FIFOCache[int, int] = FIFOCache("small", 8)
    caches.limit_caches(1)

    fifo.put(1, 1)
    fifo.put(2, 2)

    assert _size("small") == (1, 1)


def test_sizes_of_caches_with_one_name_are_added_up() -> None:
    first: LRUCache[int, int] = LRUCache("twice", 10)
    second = MeasuredCache("twice", 20, lambda: 5)
    first.put(1, 1)

    assert _size("twice") == (6, 30)
    del first, second


def test_the_setting_lowers_every_cache_of_a_server(of_server: list[list[str]]) -> None:
    _, before, after = of_server

    assert [int(size) for size in after] == [int(size) // 2 for size in before]


def test_the_memory_page_lists_the_caches_of_a_server(of_server: list[list[str]]) -> None:
    names, _, _ = of_server
    page = (ROOT / "docs" / "memory.md").read_text(encoding="utf-8")
    cells = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]

    assert sorted(re.findall("`([a-z_]+)`", "".join(cells))) == names
