"""The examples of docs/allowances.md, and those by country: calls give the days in the tables."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from storage.db.database import Database
from tests.api.conftest import Client
from tests.builders import a_key, a_person, a_request, an_organisation

pytestmark = pytest.mark.shared_database

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "allowances.md").read_text(encoding="utf-8")
BY_COUNTRY = (DOCS / "allowances-by-country.md").read_text(encoding="utf-8")
# The parts with calls and a table of people, days and what is left.
EXAMPLES = {
    text.partition("\n")[0]: text
    for text in BY_COUNTRY.split("\n## ")[1:]
    if "| Person | On | Days left |" in text
}


def test_there_are_examples_of_four_countries() -> None:
    assert [*EXAMPLES] == ["The United Kingdom", "Germany", "The United States", "France"]


@pytest.mark.parametrize("country", EXAMPLES)
def test_the_calls_of_an_example_give_the_days_of_its_table(
    client: Client, database: Database, country: str
) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    calls = re.findall(
        r"BASE/api/v1/(.+?)\"? \\\n  -d '([^']+)'\n", EXAMPLES[country], re.MULTILINE
    )
    rows = re.findall(r"^\| (.+) \| ([\d-]+) \| ([\d.]+) \|$", EXAMPLES[country], re.MULTILINE)
    found = []

    for path, body in calls:
        method = "PATCH" if "dry_run" in path else "POST"
        path = path.partition("?")[0].replace("<annual allowance id>", acme.id)
        done = client.request(method, f"/api/v1/{path}", key=key, json=json.loads(body))
        assert done.status_code < 300, done.text
    allowances = client.get("/api/v1/allowances", key).json()["data"]
    for words, on, _ in rows:
        dates: dict[str, Any] = {
            field: date.fromisoformat(day)
            for field, before in (("start_date", "since|joins on"), ("end_date", "leaves on"))
            for day in re.findall(rf"(?:{before}) ([\d-]+)", words)
        }
        if dates:
            user = a_person(database, acme, **dates)
            figures = re.findall(r"([\d.]+) days a year", words)
            for figure in figures:
                path = f"/api/v1/users/{user.id}/allowances/{acme.id}"
                client.put(path, key, json={"days_per_year": float(figure)})
            drawn_on = allowances[-1 if words.startswith("sick leave") else 0]["id"]
        for day in re.findall(r"half a day on ([\d-]+)", words):
            first = date.fromisoformat(day)
            a_request(database, acme, user, start_date=first, end_half_day="am")
        path = f"/api/v1/users/{user.id}/balances?on={on}"
        balances = client.get(path, key).json()["data"]
        found += [each["remaining"] for each in balances if each["allowance_id"] == drawn_on]

    assert found == [float(days) for _, _, days in rows]


def test_a_year_granted_by_month_is_the_sequence_of_the_page(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    key, ada = a_key(database, acme), a_person(database, acme)
    terms = {"granting": "monthly", "effective_from": "2027-01-01"}
    client.patch(f"/api/v1/allowances/{acme.id}", key, json=terms)

    found = [
        client.get(f"/api/v1/users/{ada.id}/balance?on=2027-{month:02}-01", key).json()["remaining"]
        for month in range(1, 13)
    ]

    *earlier, last = (f"{days:g}" for days in found)
    assert f"monthly: {', '.join(earlier)} and {last} from December on" in PAGE


def test_the_refusal_of_the_page_is_what_a_client_gets(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    key = a_key(database, acme)
    terms = {"days_per_year": 24, "granting": "monthly", "effective_from": "2027-01-01"}
    client.patch(f"/api/v1/allowances/{acme.id}", key, json=terms)
    [annual] = [
        each["id"]
        for each in client.get("/api/v1/leave-types", key).json()["data"]
        if each["code"] == "annual"
    ]

    def ask(start_date: str, end_date: str) -> dict[str, str]:
        body = {"leave_type_id": annual, "start_date": start_date, "end_date": end_date}
        answer: dict[str, str] = client.post("/api/v1/leave-requests", key, json=body).json()
        return answer

    ask("2027-08-02", "2027-08-17")
    refused = ask("2027-05-10", "2027-05-14")

    quoted = re.findall(r"^> (.*)$", PAGE, re.MULTILINE)
    assert " ".join(quoted) == refused["detail"]
