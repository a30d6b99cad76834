"""Reversing a decision within ten minutes, and the cards of former approvers."""

from __future__ import annotations

from bot.base import ids
from storage.admin import people
from storage.leave import leave_requests
from tests.bot.world import ADA, GRACE, HEDY, World


def labels(world: World, who: str) -> list[str]:
    return [button.text for button in world.card(who).buttons]


def approved(world: World) -> None:
    world.a_request()
    world.press(GRACE, ids.APPROVE)


def declined(world: World) -> None:
    world.a_request()
    world.click(GRACE, ids.DECLINE)
    world.slack.submit(GRACE, world.slack.open_modal(GRACE), {ids.REASON: "Release"})
    world.deliver()


def test_an_approval_is_declined_instead(world: World) -> None:
    approved(world)
    assert (labels(world, GRACE), labels(world, HEDY)) == (["Undo"], [])

    world.clock.advance(minutes=9)
    world.click(GRACE, ids.REVERSE)
    form = world.slack.open_modal(GRACE, ids.REVERSE_TO_DECLINED_FORM)
    assert "Approved by you, 1 Jun 2026, 10:00" in form.visible_text
    assert world.slack.submit(GRACE, form, {ids.REASON: "Release <week>"}).errors == {}
    world.deliver()

    request = world.request()
    assert (request.status, request.decision_reason) == ("declined", "Release <week>")
    for who, by in ((GRACE, "you"), (HEDY, "Grace Hopper")):
        shown = world.card(who).visible_text
        assert shown.startswith(f"❌ *Declined by {by}, 1 Jun 2026, 10:09*")
    assert world.slack.dm(ADA)[-1].text.startswith(
        "Grace Hopper changed the decision: your request is now declined."
    )
    assert (world.audited("leave_request.approved"), world.audited("leave_request.declined")) == (
        1,
        1,
    )


def test_a_refusal_is_approved_instead(world: World) -> None:
    declined(world)

    world.click(GRACE, ids.REVERSE)
    form = world.slack.open_modal(GRACE, ids.REVERSE_TO_APPROVED_FORM)
    assert world.slack.submit(GRACE, form).errors == {}
    world.deliver()

    request = world.request()
    assert (request.status, request.decision_reason) == ("approved", None)
    assert "Approved by Grace Hopper" in world.card(HEDY).visible_text
    assert (
        "Grace Hopper changed the decision: your request is now approved."
        in world.slack.dm(ADA)[-1].text
    )


def test_overlapping_leave_prevents_the_reversal(world: World) -> None:
    declined(world)
    world.click(GRACE, ids.REVERSE)
    form = world.slack.open_modal(GRACE)
    world.submit_over_rest()

    world.submit(GRACE, form)

    assert world.slack.open_modal(GRACE).visible_text == (
        "This can no longer be approved. It overlaps other leave (Mon 3 to Wed 5 Aug 2026)."
    )
    assert world.audited("leave_request.approved") == 0


def test_the_button_is_removed_after_ten_minutes(world: World) -> None:
    approved(world)
    stale = world.card(GRACE)

    world.clock.advance(minutes=10)
    assert world.deliver() == 2
    world.click(GRACE, ids.REVERSE, stale)

    assert labels(world, GRACE) == []
    assert not world.slack.has_modal(GRACE)
    assert world.ephemerals(GRACE) == ["Already approved by Grace Hopper."]


def test_a_form_that_was_open_for_too_long_changes_nothing(world: World) -> None:
    approved(world)
    world.click(GRACE, ids.REVERSE)
    form = world.slack.open_modal(GRACE)
    world.clock.advance(minutes=10)

    world.submit(GRACE, form)

    assert "Already approved by Grace Hopper." in world.slack.open_modal(GRACE).visible_text
    assert world.request().status == "approved"
    assert labels(world, GRACE) == []


def test_the_later_removal_of_the_button_does_not_delay_a_cancellation(world: World) -> None:
    approved(world)

    world.change(leave_requests.cancel, world.request().id, by=ADA)

    assert "Cancelled by Ada Lovelace, 1 Jun 2026, 10:00" in world.card(GRACE).visible_text
    assert labels(world, GRACE) == []


def test_a_former_approvers_card_names_the_remaining_approver(world: World) -> None:
    world.a_request()

    _demote(world, GRACE)
    world.deliver()

    assert "You no longer need to decide. Awaiting Hedy Lamarr" in world.card(GRACE).visible_text
    assert "You no longer need to decide." in world.card(GRACE).text
    assert (labels(world, GRACE), labels(world, HEDY)) == (
        [],
        ["Approve", "Decline", "Suggest other dates"],
    )


def _demote(world: World, who: str) -> None:
    world.write(people.update, world.people[who].id, {"role": "member"})
