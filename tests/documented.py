"""What the documentation says that an operation may answer, to hold answers of tests against."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import Any

import httpx

from api.documentation import openapi
from api.service import app

# What any path answers before it comes to an operation.
_OF_NO_OPERATION = frozenset({"method_not_allowed"})


def undocumented(answer: httpx.Response) -> str | None:
    """The code of a refusal that the operation's documentation does not name, if it is one."""
    is_problem = answer.headers.get("Content-Type", "").startswith("application/problem+json")
    # HEAD has no content that could name a code.
    if not is_problem or not answer.content:
        return None
    request, problem = answer.request, answer.json()
    code = problem["code"]
    if code in _OF_NO_OPERATION:
        return None
    method = request.method
    for pattern, described in _operations().get(method, []):
        if pattern.fullmatch(request.url.path):
            told = described["responses"].get(str(answer.status_code), {}).get("description", "")
            known = {*re.findall(r"`(\w+)`", told), "invalid_input"}
            codes = {code, *(one["code"] for one in problem.get("errors", ()))}
            left = codes - known
            return f"{method} {request.url.path}: {answer.status_code} {left}" if left else None
    return None


@cache
def _operations() -> dict[str, list[tuple[re.Pattern[str], Any]]]:
    document = json.loads(openapi.document(app.OPERATIONS, app.OTHER_PATHS, "https://a.test"))
    found: dict[str, list[tuple[re.Pattern[str], Any]]] = {}
    # Fixed paths before those that hold ids, as they are served.
    for path, methods in sorted(document["paths"].items(), key=lambda one: "{" in one[0]):
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method, described in methods.items():
            found.setdefault(method.upper(), []).append((pattern, described))
    return found
