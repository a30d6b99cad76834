from __future__ import annotations

from icalendar import Calendar

from storage.db.database import Database
from tests.api.conftest import Client, a_key
from tests.builders import a_department, a_person, an_organisation


def names(content: bytes) -> list[str]:
    """The summaries of leave, public holidays left out."""
    calendar = Calendar.from_ical(content)
    return sorted(
        str(event["summary"])
        for event in calendar.walk("VEVENT")
        if not str(event["uid"]).startswith("holiday-")
    )


def test_each_scope_shows_its_own_leave(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    department = a_department(database, acme)
    ada = a_person(database, acme, department_id=department.id)
    grace = a_person(database, acme, first_name="Grace", department_id=department.id)
    hedy = a_person(database, acme, first_name="Hedy")
    owners_key = a_key(database, acme)
    for person in (ada, grace, hedy):
        body = {"leave_type": "annual", "start_date": "2026-08-03", "end_date": "2026-08-03"}
        leave_request = client.post(
            "/api/v1/leave", a_key(database, acme, person), json=body
        ).json()
        client.post(f"/api/v1/approvals/{leave_request['id']}/approve", owners_key)
    feeds = client.get("/api/v1/calendar-feeds/token", a_key(database, acme, ada)).json()["feeds"]

    def shown(feed: str) -> list[str]:
        response = client.get(feeds[feed])
        assert response.headers["Content-Type"] == "text/calendar; charset=utf-8"
        return names(response.content)

    assert shown("personal") == ["Annual leave"]
    assert shown("team") == ["Annual leave", "Grace Lovelace: Annual leave"]
    assert len(shown("organisation")) == 3


def test_a_feed_ends_in_ics_or_not_and_ignores_unknown_parameters(
    client: Client, database: Database
) -> None:
    key = a_key(database, an_organisation(database))
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["personal"]

    plain = client.get(path)
    assert plain.headers["Content-Disposition"] == 'inline; filename="leave.ics"'
    assert plain.headers["Cache-Control"] == "private, no-cache"
    assert client.get(f"{path}.ics?utm_source=x").content == plain.content
    assert client.get(f"{path}?scope=everything").json()["code"] == "not_one_of"


def test_the_personal_feed_holds_public_holidays(client: Client, database: Database) -> None:
    key = a_key(database, an_organisation(database, country_code="GB"))
    path = client.get("/api/v1/calendar-feeds/token", key).json()["feeds"]["personal"]

    assert b"SUMMARY:Christmas Day" in client.get(path).content
    assert b"Christmas" not in client.get(f"{path}?scope=team").content


def test_all_unusable_tokens_get_the_same_404(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    adas_key, owners_key = a_key(database, acme, ada), a_key(database, acme)
    replaced = client.get("/api/v1/calendar-feeds/token", owners_key).json()["token"]
    client.post("/api/v1/calendar-feeds/regenerate", owners_key)
    revoked = client.post("/api/v1/calendar-feeds", owners_key).json()
    client.delete(f"/api/v1/calendar-feeds/{revoked['id']}", owners_key)
    inactive = client.get("/api/v1/calendar-feeds/token", adas_key).json()["token"]
    client.post(f"/api/v1/users/{ada.id}/deactivate", owners_key)

    tokens = ["unknown", "%C3%A9", replaced, revoked["url"].rpartition("/")[2], inactive]
    responses = [
        client.get(f"/cal/{token}{scope}", headers={"X-Request-Id": "same"})
        for token in tokens
        for scope in ("", "?scope=team", "?scope=nonsense")
    ]

    assert {response.status_code for response in responses} == {404}
    assert len({response.content for response in responses}) == 1
