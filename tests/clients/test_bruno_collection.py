"""The Bruno collection of clients/bruno."""

from __future__ import annotations

import re

from api.service.app import OPERATIONS
from tests import bruno_collection

_SENT = re.compile(r"^(get|post|put|patch|delete) \{\n  url: \{\{base_url\}\}/api/v1(\S+)$", re.M)


def test_the_collection_is_up_to_date() -> None:
    written = {
        str(file.relative_to(bruno_collection.FOLDER)): file.read_text(encoding="utf-8")
        for file in bruno_collection.FOLDER.rglob("*")
        if file.is_file()
    }

    assert written == bruno_collection.files(), "Run `make bruno`."


def test_the_collection_has_every_operation_once() -> None:
    sent = [_SENT.findall(text) for text in bruno_collection.files().values()]

    assert sorted(call for calls in sent for call in calls) == sorted(
        (operation.method.lower(), re.sub(r"\{(\w+)\}", r":\1", operation.path))
        for operation in OPERATIONS
    )
