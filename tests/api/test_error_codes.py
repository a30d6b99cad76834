from __future__ import annotations

from pathlib import Path

import pytest

from api.documentation import error_codes, error_page
from api.documentation.explained_fields import OF_FORM
from api.documentation.explained_refusals import EXPLAINED
from api.http import errors as http
from tests.api.conftest import Client
from tests.api.test_errors import every_refusal, import_all_of_storage

ROOT = Path(__file__).parents[2]
HOW = "Explain it in explained_refusals.py or explained_fields.py, then run `make docs`."


def test_every_refusal_is_explained() -> None:
    import_all_of_storage()
    explained = [type(entry.example) for entry in EXPLAINED]

    assert [kind for kind in every_refusal() if kind not in explained] == [], HOW
    assert len(explained) == len(set(explained))


def test_every_problem_of_http_is_explained() -> None:
    codes = {code for code, _, _ in http.HTTP_PROBLEMS.values()}
    codes |= {kind.code for kind in (*http.HTTP_REFUSALS, http.HttpRefusal)}
    codes.add(http.OUTCOME_UNKNOWN[0])
    explained = {entry.code for entry in error_codes.every_code()}

    assert codes <= explained, HOW
    assert set(OF_FORM) <= codes


def test_a_code_has_one_status_unless_it_is_also_a_fields() -> None:
    statuses: dict[str, set[int]] = {}
    for entry in error_codes.every_code():
        statuses.setdefault(entry.code, set()).add(entry.status)

    assert {code: of for code, of in statuses.items() if len(of) > 1} == {"not_found": {404, 422}}


@pytest.mark.parametrize("code", error_codes.every_code(), ids=lambda entry: entry.code)
def test_meanings_and_cures_are_sentences(code: error_codes.Code) -> None:
    assert code.meaning[0].isupper()
    assert code.meaning.endswith(".")
    assert code.cure.endswith(".")
    assert code.meaning.count("`") % 2 == code.cure.count("`") % 2 == 0


def test_the_errors_page_of_the_repository_is_up_to_date() -> None:
    written = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")

    assert written == error_page.markdown(), "Run `make docs`."


def test_the_page_has_an_anchor_for_every_code() -> None:
    page = error_page.html()

    for entry in error_codes.every_code():
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
