"""A short run of what ``make fuzz`` does in full."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.running import Whose, fuzz, key_of, served

pytestmark = pytest.mark.slow

EXAMPLES = 3


@pytest.mark.parametrize("whose", ["owner", "member"])
def test_no_request_that_the_document_suggests_breaks_what_it_says(
    sqlite_url: str, tmp_path: Path, whose: Whose
) -> None:
    with served(sqlite_url) as (url, found):
        done = fuzz(url, key_of(found, whose), EXAMPLES, folder=tmp_path)

    assert done.code == 0, done.output
    assert done.key_still_works
