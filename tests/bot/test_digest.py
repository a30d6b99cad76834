"""The digest is posted once a day at nine, updated, and left out on days without absences."""

from __future__ import annotations

import asyncio
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.message_views import digest as views
from playground.loopback.limits import problems_of_message
from storage.admin import channel_digests, organisation_settings, people
from storage.base.leave_values import LeaveRequest, TypeName
from storage.base.values import DIGEST_FREQUENCIES, ChannelDigest, DigestFrequency
from storage.leave import decisions, leave_requests
from storage.notifications import digest_absences, digests, reminders
from storage.notifications.digest_absences import Absences, DayOut, PersonOut
from storage.notifications.digests import Digest, DigestKey
from tests import outside
from tests.bot.world import ADA, EVE, GRACE, World
from tests.builders import a_department, a_person, a_request, an_organisation
from tests.damage import DAMAGES, damaged
from tests.fakes.slack import Message

CHANNEL = "CWHOISOUT"
# A Tuesday, at nine in London.
NINE = datetime(2026, 6, 2, 8, tzinfo=UTC)
TODAY = NINE.date()


def choose_channel(world: World, channel: str | None = CHANNEL) -> None:
    world.link()
    world.write(organisation_settings.update, {"digest_channel": channel})


@pytest.fixture
def acme(world: World) -> World:
    """An organisation that has chosen a channel in which the app is."""
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    choose_channel(world)
    return world


def off(world: World, who: str, first: date, last: date, code: str = "annual") -> LeaveRequest:
    request = a_request(
        world.database,
        world.acme,
        world.people[who],
        code=code,
        start_date=first,
        end_date=last,
        now=world.clock(),
    )
    if request.status == "approved":
        return request
    return world.write(decisions.approve, request.id)


def run_jobs(world: World, at: datetime) -> list[Message]:
    """Run due jobs at this time; returns the channel's messages."""
    world.clock.now = at
    world.run(world.app.digests.run)
    return world.slack.in_channel(CHANNEL)


def test_the_digest_is_posted_once_at_nine_in_the_organisations_time_zone(acme: World) -> None:
    off(acme, ADA, TODAY, TODAY + timedelta(days=1))
    off(acme, EVE, TODAY, TODAY, code="sick")

    before = run_jobs(acme, NINE - timedelta(seconds=1))
    at_nine = run_jobs(acme, NINE)
    after = run_jobs(acme, NINE + timedelta(hours=3))

    assert (len(before), len(at_nine)) == (0, 1)
    assert [message.text for message in after] == [
        "Out today, Tue 2 Jun 2026:\n"
        "• Ada Lovelace: Annual leave, until Wed 3 Jun 2026\n"
        "• Eve Elsewhere: Away"
    ]
    assert acme.slack.calls("chat.update") == []


def test_the_digest_is_updated_with_changes_of_the_day(acme: World) -> None:
    request = off(acme, ADA, TODAY, TODAY)
    run_jobs(acme, NINE)
    off(acme, EVE, TODAY, TODAY)

    (more,) = run_jobs(acme, NINE + timedelta(minutes=2))
    acme.write(leave_requests.cancel, request.id)
    (fewer,) = run_jobs(acme, NINE + timedelta(minutes=4))

    assert "Ada Lovelace" in more.text
    assert "Eve Elsewhere" in more.text
    assert "Ada Lovelace" not in fewer.text
    assert len(acme.slack.calls("chat.postMessage")) == 1


def test_no_message_is_posted_on_a_day_without_absences(acme: World) -> None:
    empty = run_jobs(acme, NINE)
    off(acme, ADA, TODAY, TODAY)
    posted = run_jobs(acme, NINE + timedelta(hours=2))

    assert empty == []
    assert len(posted) == 1


def test_no_digest_is_posted_at_weekends_and_on_public_holidays(acme: World) -> None:
    # Christmas is a Friday; Boxing Day's substitute is the Monday.
    christmas = datetime(2026, 12, 25, 9, tzinfo=UTC)
    off(acme, ADA, date(2026, 12, 21), date(2026, 12, 31))

    on_holidays = [run_jobs(acme, christmas + timedelta(days=ahead)) for ahead in range(3)]
    next_working_day = run_jobs(acme, datetime(2026, 12, 29, 9, tzinfo=UTC))

    assert on_holidays == [[], [], []]
    assert len(next_working_day) == 1


@pytest.mark.both_engines
def test_two_processes_post_one_message(acme: World) -> None:
    off(acme, ADA, TODAY, TODAY)
    acme.clock.now = NINE

    async def at_once() -> None:
        await asyncio.gather(*(acme.app.digests.run() for _ in range(4)))

    acme.run(at_once)

    assert len(acme.slack.in_channel(CHANNEL)) == 1


def test_a_shared_channel_gets_no_digest_and_admins_are_notified(
    world: World,
) -> None:
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    world.slack.add_channel(CHANNEL, "with-customers", is_ext_shared=True)
    choose_channel(world)
    off(world, ADA, TODAY, TODAY + timedelta(days=3))

    for day in range(2):
        run_jobs(world, NINE + timedelta(days=day))
        world.deliver()

    assert world.slack.in_channel(CHANNEL) == []
    (text,) = [message.text for message in world.slack.dm("UOWNER")]
    assert "shared with another organisation (Slack Connect)" in text
    assert "Choose another channel" in text


def test_the_digest_is_posted_without_the_scope_to_read_channels(
    acme: World,
) -> None:
    acme.slack.team().scopes -= {"channels:read", "groups:read"}
    off(acme, ADA, TODAY, TODAY)

    run_jobs(acme, NINE)

    assert len(acme.slack.in_channel(CHANNEL)) == 1


@pytest.mark.parametrize("what", ["not_in_channel", "is_archived", "channel_not_found"])
def test_admins_are_notified_once_of_a_channel_that_slack_refuses(world: World, what: str) -> None:
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    if what != "channel_not_found":
        world.slack.add_channel(
            CHANNEL,
            "who-is-out",
            is_member=what == "is_archived",
            is_archived=what == "is_archived",
        )
    choose_channel(world)
    off(world, ADA, TODAY, TODAY + timedelta(days=3))

    for day in range(4):
        for minute in range(0, 30, 5):
            run_jobs(world, NINE + timedelta(days=day, minutes=minute))
            world.deliver()

    texts = [message.text for message in world.slack.dm("UOWNER")]
    assert len(texts) == 1
    assert texts[0].startswith("I can't post the list of who's out.")
    tried = [call.arguments["channel"] for call in world.slack.calls("chat.postMessage")]
    assert tried.count(CHANNEL) == 1


@pytest.mark.parametrize("chosen", [CHANNEL, "CPUBLIC"])
def test_a_channel_chosen_after_a_refusal_gets_todays_digest(world: World, chosen: str) -> None:
    world.slack.add_channel(CHANNEL, "managers", is_private=True, is_member=False)
    choose_channel(world)
    off(world, ADA, TODAY, TODAY)
    run_jobs(world, NINE)
    world.slack.add_channel(chosen, "who-is-out", is_private=chosen == CHANNEL)
    choose_channel(world, chosen)

    run_jobs(world, NINE + timedelta(minutes=3))

    assert len(world.slack.in_channel(chosen)) == 1


def test_another_channel_gets_its_own_message(world: World) -> None:
    choose_channel(world, "CGONE")
    off(world, ADA, TODAY, TODAY)
    run_jobs(world, NINE)
    world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
    choose_channel(world, None)
    run_jobs(world, NINE + timedelta(days=1))
    off(world, EVE, TODAY + timedelta(days=1), TODAY + timedelta(days=1))
    choose_channel(world)

    messages = run_jobs(world, NINE + timedelta(days=1, minutes=1))

    assert len(messages) == 1


def test_a_digest_that_slack_refuses_temporarily_is_retried(acme: World) -> None:
    off(acme, ADA, TODAY, TODAY)
    acme.slack.fail_next("chat.postMessage", error="ratelimited", retry_after=120)

    first = run_jobs(acme, NINE)
    too_early = run_jobs(acme, NINE + timedelta(seconds=119))
    then = run_jobs(acme, NINE + timedelta(seconds=120))

    assert (first, too_early, len(then)) == ([], [], 1)


def test_a_message_that_a_user_deleted_stays_deleted(acme: World) -> None:
    off(acme, ADA, TODAY, TODAY)
    (message,) = run_jobs(acme, NINE)
    client = acme.app.workspaces.client  # type: ignore[attr-defined]
    acme.run(lambda: client.chat_delete(channel=CHANNEL, ts=message.ts))
    off(acme, EVE, TODAY, TODAY)

    assert run_jobs(acme, NINE + timedelta(minutes=2)) == []


def a_digest(world: World, **settings: object) -> ChannelDigest:
    """A digest for a channel of its own, in a workspace that has the channel."""
    world.link()
    channel = str(settings.get("channel", CHANNEL))
    world.slack.add_channel(channel, "who-is-out", is_member=True)
    return world.write(channel_digests.create, {"channel": channel, **settings})


def test_a_weekly_digest_says_on_monday_who_is_out_on_which_days(world: World) -> None:
    a_digest(world, frequency="weekly")
    monday = NINE + timedelta(days=6)
    first = monday.date()
    off(world, ADA, first, first + timedelta(days=1))
    off(world, EVE, first + timedelta(days=3), first + timedelta(days=10), code="sick")
    off(world, GRACE, first + timedelta(days=7), first + timedelta(days=8))

    early = run_jobs(world, monday - timedelta(seconds=1))
    on_monday = run_jobs(world, monday)
    on_wednesday = run_jobs(world, monday + timedelta(days=2))

    assert early == []
    assert [message.text for message in on_monday] == [
        "Out this week, Mon 8 to Sun 14 Jun 2026:\n"
        "• Ada Lovelace: Annual leave, Mon to Tue\n"
        "• Eve Elsewhere: Away, Thu to Fri, until Thu 18 Jun 2026"
    ]
    assert [message.text for message in on_wednesday] == [on_monday[0].text]
    assert len(run_jobs(world, monday + timedelta(days=7))) == 2


def test_a_weekly_digest_names_half_days_in_its_language_and_is_updated(world: World) -> None:
    a_digest(world, frequency="weekly", locale="de")
    off(world, ADA, TODAY, TODAY + timedelta(days=2))
    run_jobs(world, NINE)
    a_request(
        world.database,
        world.acme,
        world.people[EVE],
        code="sick",
        start_date=TODAY + timedelta(days=1),
        end_date=TODAY + timedelta(days=1),
        start_half_day="pm",
        now=world.clock(),
    )

    (message,) = run_jobs(world, NINE + timedelta(days=1))

    assert message.text == (
        "Diese Woche abwesend, Mo 1. bis So 7. Juni 2026:\n"
        "• Ada Lovelace: Jahresurlaub, Di bis Do\n"
        "• Eve Elsewhere: Abwesend, Mi nachmittags"
    )


def test_a_week_that_begins_with_a_public_holiday_has_its_digest_on_tuesday(world: World) -> None:
    a_digest(world, frequency="weekly")
    # Boxing Day is a Saturday.
    substitute = datetime(2026, 12, 28, 9, tzinfo=UTC)
    off(world, ADA, date(2026, 12, 30), date(2026, 12, 31))

    assert run_jobs(world, substitute) == []
    assert len(run_jobs(world, substitute + timedelta(days=1))) == 1


def test_a_departments_digest_has_only_its_people(world: World) -> None:
    labs = a_department(world.database, world.acme, name="Labs & <Co>")
    move = {"department_id": labs.id}
    by = world.acme.caller
    world.database.write_now(people.update, world.people[ADA].id, move, by=by, now=world.clock())
    a_digest(world, department_id=labs.id)
    a_digest(world, channel="CEVERYONE")
    off(world, ADA, TODAY, TODAY)
    off(world, EVE, TODAY, TODAY)

    (of_labs,) = run_jobs(world, NINE)
    (of_everyone,) = world.slack.in_channel("CEVERYONE")

    assert of_labs.text == (
        "Labs &amp; &lt;Co&gt;: Out today, Tue 2 Jun 2026:\n• Ada Lovelace: Annual leave"
    )
    assert "Eve Elsewhere" in of_everyone.text


def test_a_channel_that_slack_refuses_is_named_and_retried_when_it_is_saved(world: World) -> None:
    world.slack.add_person("UOWNER", world.acme.owner.email, "Olive Owner", tz="Europe/London")
    digest = a_digest(world)
    world.slack.add_channel(CHANNEL, "who-is-out", is_private=True, is_member=False)
    by = world.acme.caller
    off(world, ADA, TODAY, TODAY)
    run_jobs(world, NINE)
    world.deliver()
    refused = world.database.read_now(channel_digests.get, digest.id, by=by)
    world.slack.add_channel(CHANNEL, "who-is-out", is_private=True, is_member=True)
    world.database.write_now(
        channel_digests.update, digest.id, {"channel": CHANNEL}, by=by, now=world.clock()
    )

    messages = run_jobs(world, NINE + timedelta(minutes=1))

    (notice,) = [message.text for message in world.slack.dm("UOWNER")]
    assert CHANNEL in notice
    assert refused.refused_because == "not_in_channel"
    assert len(messages) == 1


def a_digest_of(world: World, kind: str) -> None:
    if kind == "channel":
        a_digest(world)
    else:
        world.slack.add_channel(CHANNEL, "who-is-out", is_member=True)
        choose_channel(world)


@pytest.mark.both_engines
@pytest.mark.parametrize("kind", ["organisation", "channel"])
def test_a_process_that_is_killed_after_posting_causes_no_second_message(
    world: World, kind: str
) -> None:
    a_digest_of(world, kind)
    off(world, ADA, TODAY, TODAY + timedelta(days=1))
    (key,) = world.database.write_now(digests.claim, now=NINE)
    digest = world.database.write_now(digests.load, key, now=NINE)
    assert digest is not None
    assert world.database.write_now(digests.begin, digest, "sha")
    client = world.app.workspaces.client  # type: ignore[attr-defined]
    world.run(lambda: client.chat_postMessage(channel=CHANNEL, **views.message(digest)))

    later = [run_jobs(world, NINE + timedelta(minutes=minutes)) for minutes in (3, 90)]
    tomorrow = run_jobs(world, NINE + timedelta(days=1))

    assert [len(messages) for messages in later] == [1, 1]
    assert len(tomorrow) == 2


@pytest.mark.parametrize("kind", ["organisation", "channel"])
def test_a_message_whose_answer_is_lost_is_not_posted_again(world: World, kind: str) -> None:
    a_digest_of(world, kind)
    off(world, ADA, TODAY, TODAY)
    world.slack.fail_next("chat.postMessage", reset=True, apply_first=True)

    run_jobs(world, NINE)
    later = run_jobs(world, NINE + timedelta(minutes=30))

    assert len(later) == 1


def test_a_digest_that_was_deleted_meanwhile_is_not_posted(world: World) -> None:
    digest = a_digest(world)
    off(world, ADA, TODAY, TODAY)
    (key,) = world.database.write_now(digests.claim, now=NINE)
    claimed = world.database.write_now(digests.load, key, now=NINE)
    world.write(channel_digests.delete, digest.id)

    assert claimed is not None
    assert not world.database.write_now(digests.begin, claimed, "sha")
    assert run_jobs(world, NINE + timedelta(hours=1)) == []


NAMES = st.text(min_size=1, max_size=200) | st.sampled_from(["<!channel>", "&" * 200, "*a*"])


@given(
    st.lists(
        st.builds(
            PersonOut,
            name=NAMES,
            type_name=st.none() | NAMES.map(TypeName),
            days=st.builds(
                DayOut, day=st.just(TODAY), half=st.sampled_from([None, "am", "pm"])
            ).map(lambda day_out: (day_out,)),
            last_day=st.dates(TODAY, TODAY + timedelta(days=300)),
        ),
        max_size=100,
    ),
    st.sampled_from(DIGEST_FREQUENCIES),
)
def test_the_longest_digest_is_within_limits_and_harmless(
    out: list[PersonOut], frequency: DigestFrequency
) -> None:
    message = views.message(
        Digest(
            key=DigestKey(organisation_id="o"),
            team_id="T1",
            channel=CHANNEL,
            locale=None,
            frequency=frequency,
            department_name="<!here>" * 30,
            day=TODAY,
            last_day=TODAY,
            absences=Absences(out=tuple(out), total=len(out)),
            ts=None,
            shown_sha256=None,
            lease_expires_at=NINE,
            tomorrow_at=NINE,
        )
    )

    assert problems_of_message(message["text"], message["blocks"]) == []
    assert len(message["text"]) <= 4_000
    assert "<" not in message["text"]
    assert digest_absences.MAX_SHOWN == 100


@pytest.mark.both_engines
@pytest.mark.parametrize("damage", DAMAGES)
def test_an_organisation_with_a_bad_row_does_not_delay_others_digests(
    acme: World, database_url: str, damage: str
) -> None:
    off(acme, ADA, TODAY, TODAY)
    bad = an_organisation(acme.database, now=acme.clock())
    damaged(database_url, bad, f"{damage}, digest_channel = 'CBAD'")

    posted = run_jobs(acme, NINE)

    assert len(posted) == 1
    due = f"SELECT due_at FROM digests WHERE organisation_id = '{bad.id}'"
    backed_off_to = NINE + digests.BACK_OFF
    assert outside.rows(database_url, due) == [(round(backed_off_to.timestamp() * 1000),)]


def test_failing_reminders_do_not_delay_digests(acme: World, database_url: str) -> None:
    bad = an_organisation(acme.database, now=acme.clock())
    request = a_request(acme.database, bad, a_person(acme.database, bad))
    acme.database.write_now(reminders.start, bad.id, request.id, bad.owner.id, now=acme.clock())
    damaged(database_url, bad, "working_days = '{'")
    off(acme, ADA, TODAY, TODAY)

    assert len(run_jobs(acme, NINE)) == 1
