"""Settings: people, their balances, and who is deactivated, archived or unlinked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import consequences, forms, person_form, person_ledger, screen, searches
from bot.screens.consequences import NamedEffects
from bot.screens.forms import Form
from bot.screens.person_form import NAME
from bot.screens.screen import Screen
from storage.admin import people_status
from storage.admin.effects import EffectsRecorder
from storage.base.allowance_values import Allowance
from storage.base.amounts import adjustment_half_days_of
from storage.base.values import Caller, User
from storage.db.database import Transaction
from storage.leave import adjustments, ledgers, people_facts
from storage.leave.ledgers import Balance, Line
from storage.leave.people_facts import People, PersonFacts
from storage.outbox import organisation_config
from storage.people import people_rows
from storage.workspaces import slack_profiles

# A year may have hundreds of adjustments; the API lists all of them.
_MAX_SHOWN: Final = 10


def read_list(tx: Transaction, interaction: Interaction, by: Caller, _: str) -> View:
    return list_view(people_facts.first_by_name(tx, by=by, now=interaction.now))


def list_view(listed: People) -> View:
    """A search, and the first people: an organisation may have thousands of them."""
    add = layout.button(gettext("Add a person"), f"{NAME}.new")
    pick = fields.external_select(
        searches.PEOPLE_PICK, placeholder=gettext("Name or e-mail address")
    )
    blocks = [
        layout.actions(add),
        layout.quiet(
            gettext(
                "To add many people at once, ask the people who run Hiatus to import a CSV file "
                "with `hiatus import`."
            )
        ),
        layout.section(gettext("Find someone to edit")),
        layout.actions(pick),
        *map(_listed, listed.people),
    ]
    if listed.has_more:
        blocks.append(layout.quiet(gettext("Search above to find everyone else.")))
    return layout.modal(gettext("People"), blocks)


def _listed(person: PersonFacts) -> Block:
    user = person.user
    facts = [words.role(user.role)]
    if user.status != "active":
        facts.append(gettext(person_form.STATUSES[user.status]))
    if person.department_name is not None:
        facts.append(layout.name(person.department_name))
    facts.append(
        gettext("Manager: {name}", name=layout.name(person.manager_name))
        if person.manager_name
        else gettext("No manager")
    )
    left = words.amount(person.remaining_half_days)
    facts.append(gettext("{amount} left in {year}", amount=left, year=person.year_name))
    options = [
        (gettext("Edit"), ids.MENU_EDIT),
        (gettext("Balance"), ids.MENU_BALANCE),
        *([] if user.status == "deactivated" else [(gettext("Deactivate…"), ids.MENU_DEACTIVATE)]),
        (gettext("Archive…"), ids.MENU_ARCHIVE),
    ]
    menu = layout.menu(f"{NAME}.menu", options, user.id)
    return {**layout.row(user.name or user.email, facts), "accessory": menu}


def _read_balance(tx: Transaction, interaction: Interaction, by: Caller, user_id: str) -> View:
    user = people_rows.get(tx, user_id, by=by)
    balances = ledgers.balances(tx, user_id, on=None, by=by, now=interaction.now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    offered = [each for each in config.allowances.values() if not each.is_archived]
    return balance_view(user, balances, offered)


def balance_view(user: User, balances: Sequence[Balance], allowances: Sequence[Allowance]) -> View:
    """The figures of this leave year, its last adjustments, and the fields of a new one.

    ``allowances`` may be adjusted; the form asks which if there are several.
    """
    year = balances[0].year.first_day.year
    years = [Option(label=str(each), value=str(each)) for each in (year - 1, year, year + 1)]
    blocks: list[Block] = [
        *_rows(user, balances),
        layout.actions(person_ledger.button(user.id)),
        *_adjustments(balances),
        layout.header(gettext("Adjust the balance")),
        fields.field(
            "days",
            gettext("Days"),
            fields.days_input(None) | {"min_value": "-366"},
            hint=gettext("Use a minus to take days away, such as -1.5."),
        ),
        *_allowance_field(allowances),
        fields.field("leave_year", gettext("Leave year"), fields.select(years, str(year))),
        fields.field(
            "reason",
            gettext("Reason"),
            fields.text_input(),
            hint=gettext("Visible to the person and their approvers."),
        ),
    ]
    return layout.modal(
        gettext("Balance"),
        blocks,
        f"{NAME}.adjustment.form",
        gettext("Adjust"),
        gettext("Back"),
        user.id,
    )


def _allowance_field(allowances: Sequence[Allowance]) -> list[Block]:
    if len(allowances) < 2:
        return []
    options = [
        Option(label=layout.cut(words.allowance(each), layout.MAX_OPTION), value=each.id)
        for each in allowances
    ]
    default = next((each.id for each in allowances if each.is_default), None)
    return [
        fields.field("allowance_id", gettext("Allowance"), fields.select(options, chosen=default))
    ]


def adjusted_view(user: User, balances: Sequence[Balance]) -> View:
    """What is left in this leave year after an adjustment."""
    blocks = [
        layout.section(gettext("The balance was adjusted.")),
        *_rows(user, balances),
        layout.actions(person_ledger.button(user.id)),
    ]
    return layout.modal(gettext("Balance"), blocks)


def _rows(user: User, balances: Sequence[Balance]) -> list[Block]:
    """The person with the default allowance's figures, and each other allowance with its own."""
    default, *others = balances
    return [
        layout.row(user.name or user.email, _facts(default)),
        *(layout.row(words.allowance(each.allowance), _facts(each)) for each in others),
    ]


def _facts(balance: Balance) -> list[str]:
    return [
        gettext(
            "{amount} left in {year}",
            amount=words.amount(balance.remaining_half_days),
            year=balance.year.name,
        ),
        gettext("{amount} in total", amount=words.amount(balance.entitled_half_days)),
        gettext("{amount} approved", amount=words.amount(balance.taken_half_days)),
        gettext("{amount} pending", amount=words.amount(balance.pending_half_days)),
    ]


def _adjustments(balances: Sequence[Balance]) -> list[Block]:
    lines = [
        _line(line, None if balance.allowance.is_default else balance.allowance.name)
        for balance in balances
        for line in balance.lines
        if line.type == "adjustment"
    ]
    if not lines:
        return []
    shown = "\n".join(lines[-_MAX_SHOWN:])
    return [layout.quiet(gettext("Adjustments of this leave year")), layout.paragraph(shown)]


def _line(line: Line, allowance_name: str | None) -> str:
    days = words.number(line.half_days / 2)
    signed = f"+{days}" if line.half_days > 0 else days
    reason = "" if line.adjustment is None else line.adjustment.reason
    shown = f"• {signed}: {layout.cut(layout.one_line(reason), 150)}"
    name = None if allowance_name is None else layout.cut(allowance_name, layout.MAX_NAME)
    return words.with_allowance(shown, name)


async def _adjust(interaction: Interaction) -> None:
    """Adjust the balance, and say in place of the form what is left."""
    by, form = await modals.admin(interaction), Form(interaction)

    def save(tx: Transaction) -> View:
        adjustments.add(
            tx,
            form.about,
            half_days=adjustment_half_days_of(form.number("days") or 0, "days"),
            reason=form.text("reason") or "",
            leave_year=form.whole("leave_year") or 0,
            allowance_id=form.text("allowance_id"),
            by=by,
            now=interaction.now,
        )
        user = people_rows.get(tx, form.about, by=by)
        balances = ledgers.balances(tx, user.id, on=None, by=by, now=interaction.now)
        return adjusted_view(user, balances)

    done = await modals.run_once(interaction, save)
    if done is not None:
        await modals.replace_form(interaction, done)


class _StatusChange(Protocol):
    """Archive or deactivate a person."""

    def __call__(
        self,
        tx: Transaction,
        user_id: str,
        *,
        by: Caller,
        now: datetime,
        recorder: EffectsRecorder | None,
    ) -> User: ...


def _asks(change: _StatusChange, question: Callable[[User, NamedEffects], View]) -> screen.Listener:
    """Show the effects of the change and ask to confirm."""

    async def listener(interaction: Interaction) -> None:
        await interaction.ack()
        by = await modals.admin(interaction)
        user_id = interaction.value

        def dry_run(tx: Transaction) -> View:
            user = people_rows.get(tx, user_id, by=by)
            named_effects = forms.effects_of(
                tx,
                lambda tx, recorder: change(
                    tx, user_id, by=by, now=interaction.now, recorder=recorder
                ),
                by=by,
            )
            return question(user, named_effects)

        await interaction.open(await interaction.database.dry_run(dry_run))

    return listener


def deactivation_view(user: User, named_effects: NamedEffects) -> View:
    """The effects of deactivating a person, before it is confirmed."""
    intro = gettext(
        "{name} can't use Hiatus or approve leave until they are reactivated. Their requests "
        "stay as they are.",
        name=layout.cut(user.name, 200),
    )
    return consequences.confirmation(
        gettext("Deactivate"),
        intro,
        named_effects,
        f"{NAME}.deactivate.form",
        gettext("Deactivate"),
        user.id,
    )


def archiving_view(user: User, named_effects: NamedEffects) -> View:
    """The effects of archiving a person, before it is confirmed."""
    intro = gettext(
        "{name} will be removed from Hiatus. Upcoming leave is cancelled, and past leave is "
        "kept for your records. You can restore the person through the API, but not their "
        "leave.",
        name=layout.cut(user.name, 200),
    )
    return consequences.confirmation(
        gettext("Archive"),
        intro,
        named_effects,
        f"{NAME}.archive.form",
        gettext("Archive"),
        user.id,
    )


async def _deactivate(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    done = await modals.run_once(
        interaction,
        lambda tx: people_status.deactivate(tx, form.about, by=by, now=interaction.now),
    )
    if done is not None:
        await interaction.ack()
        shown = await screen.view(interaction, person_form.read_form, by, done.id)
        await modals.refresh_below(interaction, shown)


async def _archive(interaction: Interaction) -> None:
    by, form = await modals.admin(interaction), Form(interaction)
    done = await modals.run_once(
        interaction,
        lambda tx: people_status.archive(tx, form.about, by=by, now=interaction.now),
    )
    if done is not None:
        await interaction.ack()
        sentence = gettext("{name} was archived.", name=done.name)
        await modals.refresh_below(interaction, layout.notice(gettext("Person"), sentence))


def _changes(change: screen.Change) -> screen.Listener:
    """Reactivate or unlink a person; Slack has asked for confirmation."""

    async def listener(interaction: Interaction) -> None:
        await interaction.ack()
        by = await modals.admin(interaction)
        user_id = interaction.value
        await interaction.database.write(change, user_id, by=by, now=interaction.now)
        shown = await screen.view(interaction, person_form.read_form, by, user_id)
        await modals.refresh(interaction, shown)

    return listener


def register(app: AsyncApp) -> None:
    open_form, open_balance = screen.opens(person_form.read_form), screen.opens(_read_balance)
    ask_deactivation = _asks(people_status.deactivate, deactivation_view)
    ask_archiving = _asks(people_status.archive, archiving_view)
    app.action(NAME)(screen.opens(read_list))
    app.action(f"{NAME}.menu")(
        screen.chooses(
            {
                ids.MENU_EDIT: open_form,
                ids.MENU_BALANCE: open_balance,
                ids.MENU_DEACTIVATE: ask_deactivation,
                ids.MENU_ARCHIVE: ask_archiving,
            }
        )
    )
    app.action(f"{NAME}.balance")(open_balance)
    app.action(person_ledger.ADJUST)(screen.shows_more(_read_balance))
    app.view(f"{NAME}.adjustment.form")(_adjust)
    app.action(f"{NAME}.deactivate")(ask_deactivation)
    app.view(f"{NAME}.deactivate.form")(_deactivate)
    app.action(f"{NAME}.reactivate")(_changes(people_status.reactivate))
    app.action(f"{NAME}.unlink")(_changes(slack_profiles.unlink))
    app.action(f"{NAME}.archive")(ask_archiving)
    app.view(f"{NAME}.archive.form")(_archive)
    person_form.register(app)
    person_ledger.register(app)


SCREEN: Final = Screen(gettext_noop("People"), NAME, register)
