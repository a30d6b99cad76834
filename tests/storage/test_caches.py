"""What a bounded cache drops."""

from __future__ import annotations

from storage.base.caches import LRUCache


def test_the_least_recently_used_value_is_evicted_first() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)
    cache.get("a")

    cache.put("c", "C", 4)

    assert [cache.get(key) for key in "abc"] == ["A", None, "C"]


def test_a_key_has_its_last_value_and_counts_once() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 9)

    cache.put("a", "B", 5)
    cache.put("b", "C", 5)

    assert (cache.get("a"), cache.get("b")) == ("B", "C")


def test_a_value_larger_than_the_cache_is_not_stored_and_evicts_nothing() -> None:
    cache: LRUCache[str, str] = LRUCache(10)
    cache.put("a", "A", 4)
    cache.put("b", "B", 4)

    cache.put("b", "long", 11)

    assert (cache.get("a"), cache.get("b"), len(cache)) == ("A", None, 1)
