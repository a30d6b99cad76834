"""Memory with a bound in bytes."""

from __future__ import annotations

from api.base.lru_cache import Recent


def test_what_was_used_least_recently_goes_first() -> None:
    recent: Recent[str, str] = Recent(10)
    recent.put("a", "A", 4)
    recent.put("b", "B", 4)
    recent.get("a")

    recent.put("c", "C", 4)

    assert [recent.get(key) for key in "abc"] == ["A", None, "C"]
    assert recent.size_bytes == 8


def test_a_key_has_its_last_value_and_counts_once() -> None:
    recent: Recent[str, str] = Recent(10)
    recent.put("a", "A", 9)

    recent.put("a", "B", 5)
    recent.put("b", "C", 5)

    assert (recent.get("a"), recent.get("b")) == ("B", "C")
    assert recent.size_bytes == 10


def test_what_is_too_big_alone_is_not_kept_and_drives_nobody_out() -> None:
    recent: Recent[str, str] = Recent(10)
    recent.put("a", "A", 4)
    recent.put("b", "B", 4)

    recent.put("b", "long", 11)

    assert (recent.get("a"), recent.get("b")) == ("A", None)
    assert (len(recent), recent.size_bytes) == (1, 4)
