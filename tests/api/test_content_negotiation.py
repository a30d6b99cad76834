"""Content codings that clients accept."""

from __future__ import annotations

import pytest

from api.base.content_negotiation import prefers_gzip


@pytest.mark.parametrize(
    ("accepted", "is_preferred"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("GZIP", True),
        ("x-gzip", True),
        ("deflate, gzip;q=1.0, *;q=0.5", True),
        ("*", True),
        ("*;q=0.3", True),
        ("br;q=1, gzip;q=0.001", True),
        ("gzip; q=0.5, identity; q=0.5", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("gzip;q=0, *", False),
        ("identity", False),
        ("identity;q=1, gzip;q=0.5", False),
        ("br, deflate", False),
        ("*;q=0", False),
        ("gzip;q=nonsense", False),
        ("gzip;q=2", False),
        ("", False),
        (",", False),
    ],
)
def test_gzip_is_chosen_by_weight(accepted: str, is_preferred: bool) -> None:
    assert prefers_gzip(accepted) is is_preferred
