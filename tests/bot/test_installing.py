"""Installing by OAuth: the linked organisation, states that work once, and secret tokens."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest

from bot.interaction import listening
from storage.admin import organisations, people
from storage.admin.organisations import NewOrganisation
from storage.base.secrets import Secrets, fingerprint, new_token
from storage.base.values import Caller, Organisation, User
from storage.db.compiled import Param, compiled
from storage.db.database import Database, Transaction
from storage.db.pages import PageOf
from storage.db.tables import SlackInstallationRow
from storage.outbox import audit
from storage.people import people_rows
from storage.workspaces import oauth_states, slack_installations, slack_workspaces
from tests import outside
from tests.bot.browser import Browser, by_oauth, page_text
from tests.bot.test_listening import Troubled
from tests.bot.world import World
from tests.builders import (
    NOW,
    Acme,
    a_person,
    a_request,
    a_slack_installation,
    a_slack_profile,
    audit_entries,
)
from tests.fakes.slack import LoopbackSlack
from tests.refusals import overlapping

INA = "UINA"


@pytest.fixture
def world(database: Database, slack: LoopbackSlack) -> Iterator[World]:
    slack.add_team("T2", None, name="Umbrella", domain="umbrella")
    slack.add_person(
        INA,
        "Ina@Umbrella.example",
        "Ina Installer",
        team_id="T2",
        tz="Europe/Berlin",
        locale="de-DE",
    )
    with World(database, slack, slack_settings=by_oauth(slack)) as running:
        yield running


def organisation_of(world: World, team_id: str) -> Organisation | None:
    return world.database.read_now(slack_workspaces.find, team_id)


def umbrellas(world: World) -> Organisation:
    """The organisation of the workspace T2."""
    organisation = organisation_of(world, "T2")
    assert organisation is not None
    return organisation


def installed(world: World) -> slack_installations.Installation:
    installation = world.database.read_now(slack_installations.find, "T2")
    assert installation is not None
    return installation


def ina_of(world: World, organisation: Organisation) -> User:
    ina = world.database.read_now(people_rows.find_by_slack_id, organisation.id, INA)
    assert ina is not None
    return ina


def by_command(organisation: Organisation) -> Caller:
    return Caller(
        organisation_id=organisation.id,
        user_id=None,
        role="owner",
        scopes=frozenset(),
        source="cli",
    )


def umbrella(world: World, *, email: str = "ina@umbrella.example", **fields: Any) -> Organisation:
    """An organisation of that domain which has no workspace, owned by the user with the address."""
    new = NewOrganisation(
        name="Umbrella Ltd",
        country_code="DE",
        timezone="Europe/Berlin",
        owner_email=email,
        owner_first_name="Ina",
        owner_last_name="Owner",
        domain="umbrella.example",
    )

    def make(tx: Transaction) -> Organisation:
        organisation, _ = organisations.create(tx, replace(new, **fields), source="cli", now=NOW)
        return organisation

    return world.database.write_now(make)


def test_the_first_installation_creates_the_organisation_and_its_owner(world: World) -> None:
    response = Browser(world).install(world.slack, INA, "T2")

    organisation = umbrellas(world)
    assert response.status_code == 200
    assert (organisation.name, organisation.domain) == ("Umbrella", "umbrella.example")
    assert (organisation.country_code, organisation.timezone) == ("DE", "Europe/Berlin")
    ina = ina_of(world, organisation)
    assert (ina.name, ina.email) == ("Ina Installer", "Ina@Umbrella.example")
    assert (ina.role, ina.status) == ("owner", "active")
    assert page_text(response) == (
        "Hiatus is installed Umbrella is set up. You're the owner. Public holidays follow Germany, "
        "and the time zone is Europe/Berlin. You can change both, and choose a region, in the "
        "organisation settings. I've sent you a message in Slack with the next steps. In Slack, "
        "type /timeoff to request leave. Open Hiatus in Slack"
    )
    assert 'href="https://slack.com/app_redirect?app=A1&amp;team=T2"' in response.text
    # The state works once, and no cache keeps the page with its address.
    assert response.headers["cache-control"] == "no-store"
    assert "slack-app-oauth-state=deleted" in response.headers["set-cookie"]


def test_the_first_installer_owns_the_organisation_with_any_address(world: World) -> None:
    world.slack.change_person(INA, team_id="T2", is_email_confirmed=False)

    response = Browser(world).install(world.slack, INA, "T2")

    organisation = umbrellas(world)
    assert response.status_code == 200
    assert organisation.domain is None
    ina = ina_of(world, organisation)
    assert (ina.role, ina.status) == ("owner", "active")


def test_a_request_makes_no_call_to_identify_the_workspace(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")
    before = len(world.slack.calls("auth.test"))

    for _ in range(3):
        world.slack.command(INA, "/timeoff", team_id="T2")

    assert len(world.slack.calls("auth.test")) == before


def test_the_token_is_stored_encrypted_and_is_not_in_the_audit_trail(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")

    token = world.slack.team("T2").token
    assert token is not None
    installation = installed(world)
    assert installation.bot_token == token
    assert token not in repr(installation)
    stored = world.database.read_now(_stored_tokens)
    assert len(stored) == 1
    assert token not in stored[0]
    by = by_command(umbrellas(world))
    entries = audit_entries(world.database, by)
    assert "slack_installation.created" in [entry.action for entry in entries]
    assert token not in str(entries)


@compiled
def _tokens() -> Any:
    return SlackInstallationRow.select(SlackInstallationRow.bot_token_encrypted)


def _stored_tokens(tx: Transaction) -> list[str]:
    return [row.bot_token_encrypted for row in tx.all(_tokens)]


def test_an_unreadable_token_loses_no_message(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")
    organisation = umbrellas(world)
    ina = ina_of(world, organisation)
    (token,) = world.database.read_now(_stored_tokens)
    foreign = Secrets.generate().encrypt("xoxb-1")
    world.database.write_now(lambda tx: tx.change(_store_token, encrypted=foreign))
    caller = listening.as_caller(organisation, ina)
    acme = Acme(database=world.database, organisation=organisation, owner=ina, caller=caller)
    a_request(world.database, acme, a_person(world.database, acme), now=world.clock())

    # Ina's welcome, the approver's card, and the requester's notice.
    assert world.deliver() == 3
    assert world.slack.dm(INA, team_id="T2") == []

    world.database.write_now(lambda tx: tx.change(_store_token, encrypted=token))
    world.clock.advance(minutes=30)
    world.deliver()
    assert len(world.slack.dm(INA, team_id="T2")) == 2


@compiled
def _store_token(encrypted: Param[str]) -> Any:
    return SlackInstallationRow.update(bot_token_encrypted=encrypted)


def test_installing_again_renews_the_token_and_changes_nothing_else(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")
    first, old = umbrellas(world), world.slack.team("T2").token

    response = Browser(world).install(world.slack, INA, "T2")

    assert installed(world).bot_token == world.slack.team("T2").token != old
    assert umbrellas(world).id == first.id
    assert "is connected to Umbrella again" in page_text(response)


def test_a_workspace_that_an_operator_linked_stays_with_its_organisation(world: World) -> None:
    ours = umbrella(world, domain=None)
    world.database.write_now(slack_workspaces.link, ours, "T2", source="cli", now=NOW)

    response = Browser(world).install(world.slack, INA, "T2")

    assert umbrellas(world).id == ours.id
    assert "is connected to Umbrella Ltd again" in page_text(response)


@pytest.mark.parametrize("role", ["admin", "owner"])
def test_an_admin_with_an_address_of_the_domain_links_the_organisation(
    world: World, role: Any
) -> None:
    ours = umbrella(world, email=f"{'ina' if role == 'owner' else 'boss'}@umbrella.example")
    if role == "admin":
        by = by_command(ours)
        fields = {"email": "INA@umbrella.example", "first_name": "Ina", "last_name": "I"}
        fields["role"] = "admin"
        world.database.write_now(_add, fields, by)

    response = Browser(world).install(world.slack, INA, "T2")

    assert umbrellas(world).id == ours.id
    assert "now belongs to Umbrella Ltd, because you are one of its admins" in page_text(response)
    ina = ina_of(world, ours)
    assert (ina.role, ina.status, ina.slack_user_id) == (role, "active", INA)


def _add(tx: Transaction, fields: dict[str, Any], by: Caller) -> None:
    people.create(tx, fields, by=by, now=NOW)


@pytest.mark.parametrize(
    "why",
    ["only a member", "switched off", "unconfirmed address", "another user's", "two match"],
)
def test_an_installation_without_proof_links_and_creates_nothing(world: World, why: str) -> None:
    ours = umbrella(world, email="boss@umbrella.example")
    acme = replace(
        world.acme,
        organisation=ours,
        caller=by_command(ours),
    )
    admin: dict[str, Any] = {"email": "ina@umbrella.example", "role": "admin"}
    if why == "only a member":
        a_person(world.database, acme, **{**admin, "role": "approver"})
    elif why == "switched off":
        a_person(world.database, acme, **admin, status="deactivated")
    elif why == "unconfirmed address":
        a_person(world.database, acme, **admin)
        world.slack.change_person(INA, team_id="T2", is_email_confirmed=False)
    elif why == "two match":
        a_person(world.database, acme, **admin)
        umbrella(world)
    count = world.database.read_now(organisations.count)

    response = Browser(world).install(world.slack, INA, "T2")

    assert response.status_code == 403
    assert "An organisation with addresses at umbrella.example already uses Hiatus." in page_text(
        response
    )
    assert organisation_of(world, "T2") is None
    assert world.database.read_now(slack_installations.find, "T2") is None
    assert world.database.read_now(organisations.count) == count


def test_an_organisation_with_a_workspace_is_not_linked_to_another(world: World) -> None:
    ours = umbrella(world)
    world.database.write_now(slack_workspaces.link, ours, "T7", source="cli", now=NOW)

    Browser(world).install(world.slack, INA, "T2")

    assert umbrellas(world).id != ours.id


def test_an_address_of_a_public_provider_links_nothing(world: World) -> None:
    ours = umbrella(world, email="ina@gmail.com", domain="gmail.com")
    world.slack.change_person(INA, team_id="T2", email="ina@gmail.com")

    Browser(world).install(world.slack, INA, "T2")

    organisation = umbrellas(world)
    assert organisation.id != ours.id
    assert organisation.domain is None


@pytest.mark.parametrize("flags", [{"is_restricted": True}, {"home_team_id": "T9"}])
def test_guests_and_members_of_other_workspaces_cannot_install(
    world: World, flags: dict[str, Any]
) -> None:
    world.slack.change_person(INA, team_id="T2", **flags)

    response = Browser(world).install(world.slack, INA, "T2")

    assert response.status_code == 403
    assert organisation_of(world, "T2") is None


def test_an_enterprise_installation_is_refused_and_its_token_revoked(world: World) -> None:
    browser = Browser(world)
    state = browser.begin()["state"]
    world.slack.team("T2").token = "xoxb-enterprise"
    body = {
        "ok": True,
        "access_token": "xoxb-enterprise",
        "is_enterprise_install": True,
        "enterprise": {"id": "E1", "name": "Group"},
        "team": None,
        "authed_user": {"id": INA},
        "scope": "commands",
    }
    world.slack.fail_next("oauth.v2.access", body=json.dumps(body))

    response = browser.come_back(state=state, code="any")

    assert response.status_code == 400
    assert "Choose a single workspace" in page_text(response)
    assert [call.token for call in world.slack.calls("auth.revoke")] == ["xoxb-enterprise"]


def test_the_consent_page_has_the_manifests_scopes_and_the_redirect_url(world: World) -> None:
    query = Browser(world).begin()

    assert query["scope"] == (
        "commands,chat:write,channels:read,groups:read,im:history,users:read,users:read.email,"
        "files:write"
    )
    assert query["user_scope"] == ""
    assert query["client_id"] == world.slack.client_id
    assert query["redirect_uri"] == f"{world.slack.app_url}/slack/oauth_redirect"


@pytest.mark.parametrize("cookie", ["", "slack-app-oauth-state=another"])
def test_a_state_is_valid_only_in_the_browser_that_started(world: World, cookie: str) -> None:
    browser = Browser(world)
    state = browser.begin()["state"]
    browser.cookie = cookie

    response = browser.come_back(state=state, code=world.slack.oauth_code(INA, "T2"))

    assert response.status_code == 400
    assert "started in another browser" in page_text(response)
    assert world.slack.calls("oauth.v2.access") == []


class Writes(Troubled):
    """Counts the app's writes."""

    count = 0

    async def before_write(self) -> None:
        self.count += 1


@pytest.mark.parametrize("why", ["invented", "altered", "expired", "of another deployment"])
def test_a_wrong_state_writes_nothing(database: Database, slack: LoopbackSlack, why: str) -> None:
    writes = Writes(database)
    with World(database, slack, app_database=writes, slack_settings=by_oauth(slack)) as world:
        state = {
            "invented": "invented",
            "altered": _altered(oauth_states.issue(database.secrets, now=world.clock())),
            "expired": oauth_states.issue(
                database.secrets, now=world.clock() - timedelta(minutes=10)
            ),
            "of another deployment": oauth_states.issue(Secrets.generate(), now=world.clock()),
        }[why]
        browser = Browser(world)
        browser.cookie = f"slack-app-oauth-state={state}"
        before = writes.count

        statuses = [browser.come_back(state=state, code="x").status_code for _ in range(3)]

        assert statuses == [400, 400, 400]
        assert writes.count == before
        assert slack.calls("oauth.v2.access") == []


def _altered(state: str) -> str:
    """The same state with a later expiry."""
    nonce, expires_at, signature = state.split(".")
    return f"{nonce}.{int(expires_at) + 60}.{signature}"


@pytest.mark.both_engines
def test_beginning_a_hundred_installations_stores_nothing(world: World, database_url: str) -> None:
    with httpx.Client() as browser:
        begun = [browser.get(f"{world.slack.app_url}/slack/install") for _ in range(100)]

    assert {response.status_code for response in begun} == {302}
    assert len({response.headers["location"] for response in begun}) == 100
    assert stored_states(database_url) == 0


@pytest.mark.both_engines
def test_of_two_redirects_with_one_state_one_installs(world: World) -> None:
    browser = Browser(world)
    state = browser.begin()["state"]
    codes = [world.slack.oauth_code(INA, "T2") for _ in range(4)]

    with ThreadPoolExecutor(len(codes)) as pool:
        responses = pool.map(lambda code: browser.come_back(state=state, code=code), codes)

    assert sorted(response.status_code for response in responses) == [200, 400, 400, 400]
    assert len(world.slack.calls("oauth.v2.access")) == 1


@pytest.mark.both_engines
def test_an_installation_begun_with_an_older_version_is_finished_once(
    world: World, database_url: str
) -> None:
    state = new_token()
    expires_at = int((world.clock() + timedelta(minutes=1)).timestamp() * 1_000)
    outside.run(
        database_url,
        "INSERT INTO slack_states (state_sha256, expires_at) "
        f"VALUES ('{fingerprint(state)}', {expires_at})",
    )
    browser = Browser(world)
    browser.cookie = f"slack-app-oauth-state={state}"

    statuses = [
        browser.come_back(state=state, code=world.slack.oauth_code(INA, "T2")).status_code
        for _ in range(2)
    ]

    assert statuses == [200, 400]


@pytest.mark.both_engines
def test_an_older_version_does_not_take_a_used_state_for_one_of_its_own(
    world: World, database_url: str
) -> None:
    browser = Browser(world)
    state = browser.begin()["state"]
    browser.come_back(state=state, code=world.slack.oauth_code(INA, "T2"))

    # What it looks for. The row of the used state is there.
    found = outside.rows(
        database_url,
        f"SELECT 1 FROM slack_states WHERE state_sha256 = '{fingerprint(state)}'",
    )
    assert (found, stored_states(database_url)) == ([], 1)


def stored_states(database_url: str) -> int:
    [(count,)] = outside.rows(database_url, "SELECT COUNT(*) FROM slack_states")
    return int(count)


def test_a_refused_installation_is_explained(world: World) -> None:
    browser = Browser(world)
    state = browser.begin()["state"]

    response = browser.come_back(state=state, error="access_denied")

    assert response.status_code == 200
    assert "You declined the permissions" in page_text(response)


@pytest.mark.parametrize("method", ["oauth.v2.access", "auth.test", "users.info"])
@pytest.mark.parametrize("how", [{"status": 503}, {"reset": True}, {"error": "invalid_code"}])
def test_an_error_of_slack_installs_nothing(world: World, method: str, how: dict[str, Any]) -> None:
    # aiohttp retries a request whose connection is closed without a response.
    world.slack.fail_next(method, times=3, **how)

    response = Browser(world).install(world.slack, INA, "T2")

    assert response.status_code in (400, 502)
    assert "Hiatus is not installed" in page_text(response)
    assert organisation_of(world, "T2") is None


def test_the_workspaces_name_is_escaped_on_the_page(world: World) -> None:
    world.slack.team("T2").name = "<script>alert(1)</script>"

    response = Browser(world).install(world.slack, INA, "T2")

    assert "<script>" not in response.text
    assert response.headers["content-security-policy"].startswith("default-src 'none'")
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
    assert response.headers["referrer-policy"] == "no-referrer"


def test_without_oauth_there_is_no_install_page(database: Database, slack: LoopbackSlack) -> None:
    with World(database, slack):
        assert httpx.get(f"{slack.app_url}/slack/install").status_code == 404


def test_uninstalling_deletes_the_token_and_keeps_the_organisation(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")

    world.slack.event({"type": "app_uninstalled"}, team_id="T2", overrides={"event_time": _now()})

    assert world.database.read_now(slack_installations.find, "T2") is None
    assert world.database.read_now(_stored_tokens) == [""]
    assert organisation_of(world, "T2") is not None
    world.slack.command(INA, "/timeoff", team_id="T2")
    world.settled()
    assert world.ephemerals(INA)[-1].endswith(f": {world.slack.app_url}/slack/install")


@pytest.mark.both_engines
def test_a_late_uninstall_event_does_not_end_a_newer_installation(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")
    world.clock.advance(minutes=5)
    Browser(world).install(world.slack, INA, "T2")

    world.slack.event({"type": "app_uninstalled"}, team_id="T2", overrides={"event_time": _now()})

    assert world.database.read_now(slack_installations.find, "T2") is not None


@pytest.mark.parametrize(
    ("tokens", "ends"), [({"bot": ["UBOT"]}, True), ({"oauth": ["UINA"]}, False), ({}, False)]
)
def test_a_revoked_bot_token_ends_the_installation(
    world: World, tokens: dict[str, Any], ends: bool
) -> None:
    Browser(world).install(world.slack, INA, "T2")

    world.slack.event(
        {"type": "tokens_revoked", "tokens": tokens},
        team_id="T2",
        overrides={"event_time": _now()},
    )

    assert (world.database.read_now(slack_installations.find, "T2") is None) is ends


def test_a_token_that_slack_refuses_ends_the_installation_without_an_event(world: World) -> None:
    Browser(world).install(world.slack, INA, "T2")
    token = world.slack.team("T2").token
    assert token is not None
    world.slack.revoke(token)

    world.slack.command(INA, "/timeoff", team_id="T2")
    world.settled()

    assert world.database.read_now(slack_installations.find, "T2") is None


def _now() -> int:
    return int(NOW.timestamp())


@pytest.mark.both_engines
def test_two_concurrent_installations_create_one_organisation(world: World) -> None:
    browsers = [Browser(world) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        responses = list(
            pool.map(lambda browser: browser.install(world.slack, INA, "T2"), browsers)
        )

    # The loopback Slack revokes a token when it issues the next: that installation is refused.
    assert {response.status_code for response in responses} <= {200, 400, 403, 502}
    assert 200 in {response.status_code for response in responses}
    assert world.database.read_now(organisations.count) == 2


@pytest.mark.both_engines
def test_two_concurrent_installations_link_an_organisation_once(world: World) -> None:
    ours = umbrella(world)
    ina = a_slack_profile("ina@umbrella.example", slack_user_id=INA)
    first = a_slack_installation(ina, team_id="T2", team_name="Umbrella", bot_token="xoxb-1")
    second = replace(first, bot_token="xoxb-2")

    codes = overlapping(
        world.database,
        lambda tx: slack_installations.install(tx, first, now=NOW),
        lambda: world.database.write_now(slack_installations.install, second, now=NOW),
    )

    installation = installed(world)
    assert codes == []
    assert (installation.organisation_id, installation.bot_token) == (ours.id, "xoxb-2")
    by = by_command(ours)
    linked = world.database.read_now(
        audit.entries, PageOf(), by=by, action="organisation.slack_linked"
    )
    assert len(linked.items) == 1
