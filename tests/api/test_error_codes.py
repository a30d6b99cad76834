from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from api.documentation import error_codes, errors_page, openapi
from api.http import field_errors
from api.routes.preview_records import WarningCode
from api.service.app import OPERATIONS, OTHER_PATHS
from storage.base.errors.field_codes import FIELD_CODES
from tests.api.conftest import Client
from tests.raised_codes import (
    called_names,
    codes_of_product,
    documented_errors,
    every_refusal,
    product_sources,
    raised_codes,
)

ROOT = Path(__file__).parents[2]
HOW = "Explain it in storage/base/errors/field_codes.py."


# Codes of fields that only Slack's forms and operator commands have: what makes them is shared with
# REST, where a schema or another rule refuses such a value first.
NOT_IN_REST = {
    *("invalid_slug", "not_a_boolean", "unknown_frequency", "unknown_half", "user_not_active"),
    *("unknown_granting", "unknown_leave_year_type", "unknown_locale", "unknown_role"),
    *("unknown_pro_rata", "unknown_rounding"),
}
# Modules whose errors REST never sends.
WITHOUT_REST = (
    *("bot/", "storage/operations/", "storage/workspaces/"),
    *("storage/leave/opening_figures.py", "storage/leave/suggestions.py"),
)


def test_every_raised_refusal_is_explained_and_no_other() -> None:
    called = called_names(product_sources().values())
    raised = {kind for kind in every_refusal() if kind.__name__ in called}

    assert {type(error) for error in documented_errors()} == raised, "Give it a cure."


def test_every_raised_code_of_a_field_is_explained_and_no_other() -> None:
    raised = codes_of_product()
    of_pydantic = {code for code, _ in (*field_errors.SENTENCES.values(), field_errors.OTHER)}
    codes = {*raised.places, *of_pydantic, *field_errors.OF_UNKNOWN.values()}
    of_warnings = set(get_args(WarningCode))
    of_refusals = {kind.code for kind in every_refusal()}

    assert raised.unclear == [], "Write the code as a literal where it is raised."
    missing = codes - set(FIELD_CODES) - of_warnings - of_refusals
    assert {code: raised.places.get(code) for code in missing} == {}, HOW
    assert (set(FIELD_CODES) | of_warnings) - codes == set(), "Nothing raises it: remove it."


def test_openapi_has_every_code_that_rest_raises() -> None:
    places = codes_of_product().places
    outside = {code for code, of in places.items() if all(map(_is_without_rest, of))}
    document = openapi.document(OPERATIONS, OTHER_PATHS, "https://hiatus.test").decode()

    absent = {code for code in FIELD_CODES if f"`{code}`" not in document}
    assert absent - outside == NOT_IN_REST, "Name it in the `rules` of its operations."


def _is_without_rest(place: str) -> bool:
    return place.startswith(WITHOUT_REST)


@pytest.mark.parametrize(
    "planted",
    [
        'raise InvalidInput.of("note", "planted", "Say more.")',
        'FieldError(pointer="/note", code="planted", detail="Say more.")',
        'raise PydanticCustomError("planted", "{field} is odd.")',
        'code = "planted" if x else "other"\nraise errors.InvalidInput.of("a", code, "")',
        'def _no(code): return InvalidInput.of("a", code, "")\nraise _no("planted")',
        'def no(*, code): return InvalidInput.of("a", code, "")\nraise a.no(code="planted")',
    ],
)
def test_a_planted_code_is_found(planted: str) -> None:
    places = raised_codes({"storage/rules/planted.py": planted}).places

    assert "planted" in places.keys() - set(FIELD_CODES)


def test_a_computed_code_is_reported() -> None:
    planted = 'raise InvalidInput.of("a", f"unknown_{field}", "")'

    raised = raised_codes({"storage/rules/planted.py": planted})

    assert raised.unclear == ["storage/rules/planted.py:1: f'unknown_{field}'"]


def test_a_code_has_one_status_unless_it_is_also_a_fields() -> None:
    statuses: dict[str, set[int]] = {}
    for entry in error_codes.every_code(OPERATIONS):
        statuses.setdefault(entry.code, set()).add(entry.status)

    assert {code: of for code, of in statuses.items() if len(of) > 1} == {"not_found": {404, 422}}


@pytest.mark.parametrize("code", error_codes.every_code(OPERATIONS), ids=lambda entry: entry.code)
def test_meanings_and_cures_are_sentences(code: error_codes.Code) -> None:
    assert code.meaning[0].isupper()
    assert code.meaning.endswith(".")
    assert code.cure.endswith(".")
    assert code.meaning.count("`") % 2 == code.cure.count("`") % 2 == 0


def test_the_page_has_an_anchor_for_every_code() -> None:
    page = errors_page.html(OPERATIONS)

    for entry in error_codes.every_code(OPERATIONS):
        assert page.count(f'<section id="{entry.code}">') == 1
    assert page.count("<section") == page.count("</section>")


def test_a_problem_leads_to_its_explanation(client: Client) -> None:
    problem = client.get("/api/v1/users").json()

    page = client.get(problem["type"])

    address, _, code = problem["type"].partition("#")
    assert (address, code) == ("https://hiatus.test/docs/errors", "unauthenticated")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert f'<section id="{code}">' in page.text
    assert "Send <code>Authorization: Bearer hiatus_sk_live_…</code>" in page.text
