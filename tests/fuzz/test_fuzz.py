"""A short run of ``make fuzz``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.running import Whose, fuzz, key_of, served

pytestmark = pytest.mark.slow

EXAMPLES = 3


@pytest.mark.parametrize("whose", ["owner", "member"])
def test_responses_to_generated_requests_match_the_openapi_document(
    sqlite_url: str, tmp_path: Path, whose: Whose
) -> None:
    with served(sqlite_url) as (url, organisation):
        done = fuzz(url, key_of(organisation, whose), EXAMPLES, folder=tmp_path)

    assert done.code == 0, done.output
    assert done.key_still_works
