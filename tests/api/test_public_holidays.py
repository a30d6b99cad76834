"""Holiday sets over HTTP: a year, overrides and deletion; the countries to choose from."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.conftest import Client

pytestmark = pytest.mark.shared_database

API = "/api/v1"
SETS = f"{API}/organisation/public-holiday-sets"


def own_set(client: Client, key: str) -> str:
    set_id: str = client.get(SETS, key).json()["data"][0]["id"]
    return f"{SETS}/{set_id}"


def on(client: Client, key: str, day: str) -> Any:
    listed = client.get(f"{own_set(client, key)}/holidays?year={day[:4]}", key).json()
    return next((holiday for holiday in listed["data"] if holiday["date"] == day), None)


def test_holidays_of_a_year_have_their_source(client: Client, key: str) -> None:
    path = own_set(client, key)
    body = {"date": "2026-12-24", "name": "Christmas Eve", "half": "pm", "every_year": True}

    added = client.post(f"{path}/overrides", key, json=body)

    assert added.status_code == 201
    assert added.headers["Location"] == f"{path}/overrides"
    assert added.json().items() >= {**body, "is_holiday": True}.items()
    assert client.get(f"{path}/overrides", key).json()["data"] == [added.json()]
    assert on(client, key, "2026-12-24") == {
        "date": "2026-12-24",
        "name": "Christmas Eve",
        "source": "override",
        "half": "pm",
        "is_holiday": True,
        "override_id": added.json()["id"],
    }
    christmas = on(client, key, "2026-12-25")
    assert (christmas["name"], christmas["source"]) == ("Christmas Day", "country")
    assert client.post(f"{path}/overrides", key, json=body).json()["code"] == "already_exists"


def test_the_current_year_is_the_default(client: Client, key: str) -> None:
    path = own_set(client, key)

    now = client.get(f"{path}/holidays", key).json()

    assert now == client.get(f"{path}/holidays?year=2026", key).json()
    assert now["pagination"] == {"next_cursor": None, "has_more": False}
    for wrong in ("1899", "2101", "MMXXVI", "9" * 5_000):
        refused = client.get(f"{path}/holidays?year={wrong}", key)
        assert (refused.status_code, refused.json()["errors"][0]["pointer"]) == (422, "?year")


def test_countries_name_their_regions(client: Client, key: str) -> None:
    listed = client.get(f"{API}/countries", key).json()["data"]

    britain = next(country for country in listed if country["code"] == "GB")
    assert (britain["name"], britain["has_regions"]) == ("United Kingdom", True)
    assert {"code": "GB-SCT", "name": "Scotland"} in britain["regions"]
    assert [country["name"] for country in listed] == sorted(country["name"] for country in listed)
    assert client.get(SETS, key).json()["data"][0]["has_regions"] is True
    scotland = client.post(SETS, key, json={"country_code": "GB-SCT"}).json()
    assert scotland["has_regions"] is False
    assert scotland["country_name"] == "United Kingdom (Scotland)"
