"""Whom most tests of ``storage`` are about. They make others with ``tests.builders``."""

from __future__ import annotations

import pytest

from storage.base.values import User
from storage.db.database import Database
from tests.builders import Acme, a_person, an_organisation


@pytest.fixture
def acme(database: Database) -> Acme:
    return an_organisation(database)


@pytest.fixture
def ada(database: Database, acme: Acme) -> User:
    """A member of ``acme``."""
    return a_person(database, acme)
