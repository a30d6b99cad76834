"""A browser for the tests of pages."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests import browser as browsers


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = browsers.find()
    if chromium is None:
        pytest.skip(browsers.NONE_FOUND)
    with browsers.launched(chromium) as launched:
        yield launched
