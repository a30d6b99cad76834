"""The parameters of PostgreSQL connections."""

from __future__ import annotations

import pytest

from storage.db.connections import parameters_of, with_first


@pytest.mark.parametrize(
    ("parameters", "host", "port", "first"),
    [
        ({"host": "a,b", "port": "1,2"}, "b", 2, {"host": "b,a", "port": "2,1"}),
        ({"host": "a,b", "port": "1,2"}, "a", 1, {"host": "a,b", "port": "1,2"}),
        ({"host": "a,b,c", "port": "1"}, "c", 1, {"host": "c,a,b", "port": "1,1,1"}),
        ({"host": "a,b"}, "b", 5432, {"host": "b,a"}),
        ({"host": "a,a", "port": "1,2"}, "a", 2, {"host": "a,a", "port": "2,1"}),
        ({"hostaddr": "::1,::2", "user": "x"}, "::2", 5432, {"hostaddr": "::2,::1", "user": "x"}),
        ({"host": "a", "port": "1"}, "b", 2, {"host": "a", "port": "1"}),
    ],
)
def test_the_host_that_answered_last_is_tried_first(
    parameters: dict[str, str], host: str, port: int, first: dict[str, str]
) -> None:
    assert with_first(parameters, host, port) == first


def test_of_several_hosts_the_primary_is_connected_to_in_time() -> None:
    one = parameters_of("postgresql://a/hiatus", 10)
    two = parameters_of("postgresql://a,b/hiatus", 10)
    own = parameters_of("postgresql://a,b/hiatus?connect_timeout=9&target_session_attrs=any", 10)

    assert (one["connect_timeout"], "target_session_attrs" in one) == (5, False)
    assert (two["connect_timeout"], two["target_session_attrs"]) == (2, "read-write")
    assert (own["connect_timeout"], own["target_session_attrs"]) == ("9", "any")
