"""People's own data behind a link that works once."""

from __future__ import annotations

from datetime import timedelta

import pytest
from itsdangerous import URLSafeSerializer
from structlog.testing import capture_logs

from storage.admin import data_files
from storage.db.database import Database
from storage.reports import report_links
from storage.reports.reports import Period
from tests.api.conftest import Client
from tests.builders import NOW, a_key, a_person, an_organisation, caller_for

pytestmark = pytest.mark.shared_database


@pytest.mark.both_engines
def test_a_persons_data_is_downloaded_once_and_never_used_up_by_a_look(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    ada = a_person(database, acme)
    by = caller_for(acme, ada)
    in_rest = client.get(f"/api/v1/users/{ada.id}/data", a_key(database, acme, ada)).json()
    path = data_files.url("", database.secrets, by=by, now=NOW)

    with capture_logs() as logs:
        look = client.request("HEAD", path)
        first = client.get(path)
        again = client.get(path)
        for_people = client.get(path, headers={"accept": "text/html"})

    assert look.status_code == 405
    assert first.status_code == 200
    name = f'attachment; filename="hiatus-my-data-{NOW:%Y-%m-%d}.json"'
    shown = [first.headers[each] for each in ("cache-control", "content-type")]
    assert shown == ["no-store", "application/json"]
    assert first.headers["content-disposition"] == name
    data = first.json()
    assert data["user_id"] == ada.id
    assert data["about"]["user"] == in_rest["about"]["user"]
    assert data["about"].keys() == in_rest["about"].keys()
    assert (again.status_code, again.json()["code"]) == (410, "gone")
    assert "This link has been used" in for_people.text
    assert path.removeprefix(data_files.PATH) not in repr(logs)
    assert ada.email not in repr(logs)


def test_a_link_opens_no_other_persons_data(client: Client, database: Database) -> None:
    acme = an_organisation(database)
    ada, ben = a_person(database, acme), a_person(database, acme)
    path = data_files.url("", database.secrets, by=caller_for(acme, ada), now=NOW)
    content, _, signature = path.removeprefix(data_files.PATH).rpartition(".")
    # What is signed is readable: another's id with the same signature is a forgery.
    forger = URLSafeSerializer("another key")
    values = forger.load_payload(content.encode())
    of_ben = forger.dump_payload([ben.id if value == ada.id else value for value in values])
    forged = f"{data_files.PATH}{of_ben.decode()}.{signature}"

    assert ada.id in values
    assert client.get(forged).status_code == 410
    assert client.get(path).json()["user_id"] == ada.id


def test_a_link_that_expired_or_is_for_another_file_opens_nothing(
    client: Client, database: Database
) -> None:
    acme = an_organisation(database)
    by = acme.caller
    period = Period(first_day=NOW.date(), last_day=NOW.date())
    expired = data_files.url("", database.secrets, by=by, now=NOW - timedelta(days=1))
    of_payroll = report_links.url("", database.secrets, period, by=by, now=NOW)
    of_data = data_files.url("", database.secrets, by=by, now=NOW)

    paths = [
        expired,
        of_payroll.replace(report_links.PATH, data_files.PATH),
        of_data.replace(data_files.PATH, report_links.PATH),
    ]

    assert [client.get(path).status_code for path in paths] == [410, 410, 410]
    assert client.get(of_data).status_code == 200
