"""Settings: allowances, the pots of days that leave draws on, and their dated terms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Final

from slack_bolt.async_app import AsyncApp

from bot.base import ids
from bot.base.block_kit import Block, View
from bot.base.language import gettext, gettext_noop, ngettext
from bot.blocks import fields, layout, words
from bot.blocks.fields import Option
from bot.interaction import modals
from bot.interaction.interaction import Interaction
from bot.screens import consequences, forms, screen
from bot.screens.consequences import NamedEffects
from bot.screens.forms import Form
from bot.screens.screen import Saving, Screen
from storage.admin import allowances, dated_terms
from storage.admin.allowances import Shown
from storage.base.allowance_values import Allowance, AllowanceTerms, TenureStep
from storage.base.amounts import amount_of, half_days_of
from storage.base.errors import InvalidInput
from storage.base.values import Caller, days_of, local_day
from storage.db.database import Transaction
from storage.db.pages import Page
from storage.outbox import organisation_config

NAME: Final = "settings.allowances"
TERMS: Final = f"{NAME}.terms"
# The terms that a form lists; the rest is counted.
_MAX_PAST: Final = 5
_MAX_FUTURE: Final = 20
_LONGEST_TENURE: Final = 400
_STEP: Final = re.compile(r"(\d{1,3})\s*[:=]\s*(\d{1,4}(?:[.,]\d+)?)")
_ALL: Final = "all"
_UP_TO: Final = "days"
_GRANTING: Final = (
    Option(label=gettext_noop("At once, when the leave year begins"), value="yearly"),
    Option(label=gettext_noop("Monthly, a twelfth each month"), value="monthly"),
)
_CARRIED: Final = (
    Option(label=gettext_noop("Nothing"), value=ids.NOTHING),
    Option(label=gettext_noop("All days that are left"), value=_ALL),
    Option(label=gettext_noop("Up to the days below"), value=_UP_TO),
)
_FLAGS: Final = (
    Option(label=gettext_noop("Days of later months can be taken early"), value="may_borrow"),
    Option(label=gettext_noop("Days can be earned by extra work"), value="earnable"),
)


def read_list(tx: Transaction, interaction: Interaction, by: Caller, cursor: str) -> View:
    page = allowances.page(tx, screen.page_of(cursor), by=by, now=interaction.now)
    return list_view(page, organisation_config.today(tx, by.organisation_id, interaction.now))


def list_view(page: Page[Shown], today: date) -> View:
    """The default allowance first, then the others, archived ones too."""
    blocks = [layout.actions(layout.button(gettext("Add an allowance"), f"{NAME}.new"))]
    for shown in page.items:
        allowance = shown.allowance
        row = layout.row(words.allowance(allowance), _facts(shown, today))
        blocks.append({**row, "accessory": _what_to_do(allowance)})
    return screen.list_view(NAME, gettext("Allowances"), blocks, page.next_cursor)


def _what_to_do(allowance: Allowance) -> Block:
    """The menu of a row; a button for the default allowance, which is always there."""
    if allowance.is_default:
        return layout.button(
            gettext("Edit"),
            f"{NAME}.edit",
            allowance.id,
            spoken=gettext("Edit {name}", name=words.allowance(allowance)),
        )
    removal = screen.removal(is_archived=allowance.is_archived)
    return layout.menu(f"{NAME}.menu", [(gettext("Edit"), ids.MENU_EDIT), removal], allowance.id)


def _facts(shown: Shown, today: date) -> list[str]:
    facts = in_words(shown.terms)
    if shown.allowance.earnable:
        # Without a figure, as time in lieu, days are only earned.
        facts = facts[1:] if shown.terms.half_days_per_year is None else facts
        facts.append(gettext("can be earned"))
    later = [terms.valid_from for terms in shown.allowance.terms if _is_future(terms, today)]
    if later and later[0] is not None:
        facts.append(gettext("changes on {day}", day=words.plain_day(later[0])))
    if shown.allowance.is_archived:
        facts.append(gettext("Archived"))
    # It begins a line; the others follow on it.
    first, *others = facts
    return [first[:1].upper() + first[1:], *others]


def _is_future(terms: AllowanceTerms, today: date) -> bool:
    return terms.valid_from is not None and terms.valid_from > today


def in_words(terms: AllowanceTerms) -> list[str]:
    """What people get: "25 days a year, granted monthly", "27 days after 5 years"."""
    facts = [_granted(terms), *map(_step, terms.by_tenure)]
    if terms.available_after_months is not None:
        facts.append(
            ngettext(
                "can be taken after {count} month at work",
                "can be taken after {count} months at work",
                terms.available_after_months,
            )
        )
    if terms.may_borrow:
        facts.append(gettext("can be taken early"))
    if terms.overdraft_half_days:
        overdraft = words.amount(terms.overdraft_half_days)
        facts.append(gettext("up to {amount} below zero", amount=overdraft))
    if terms.carry_over_half_days != 0:
        facts.append(_carried(terms))
    return facts


def _granted(terms: AllowanceTerms) -> str:
    if terms.half_days_per_year is None:
        return gettext("only people with days of their own")
    amount = words.amount(terms.half_days_per_year)
    if terms.granting == "monthly":
        return gettext("{amount} a year, granted monthly", amount=amount)
    return gettext("{amount} a year", amount=amount)


def _step(step: TenureStep) -> str:
    return ngettext(
        "{amount} after {count} year",
        "{amount} after {count} years",
        step.after_years,
        amount=words.amount(step.half_days_per_year),
    )


def _carried(terms: AllowanceTerms) -> str:
    most = terms.carry_over_half_days
    amount = gettext("all days left") if most is None else words.amount(most)
    if terms.carry_over_expiry_month is not None:
        return gettext(
            "carries over {amount} until the end of {month}",
            amount=amount,
            month=words.month(terms.carry_over_expiry_month),
        )
    if terms.carry_over_expires_after_months is None:
        return gettext("carries over {amount}", amount=amount)
    return ngettext(
        "carries over {amount} for {count} month",
        "carries over {amount} for {count} months",
        terms.carry_over_expires_after_months,
        amount=amount,
    )


def _read_form(tx: Transaction, interaction: Interaction, by: Caller, allowance_id: str) -> View:
    if not allowance_id:
        return form_view(None, fields.from_when(None))
    shown = allowances.get(tx, allowance_id, by=by, now=interaction.now)
    config = organisation_config.of_organisation(tx, by.organisation_id)
    today = local_day(interaction.now, config.organisation.timezone)
    return form_view(shown, forms.from_when(config, shown.allowance.terms, today), today)


def form_view(shown: Shown | None, from_when: Block, today: date = date.max) -> View:
    """The form of an allowance with its present terms; ``shown`` is None for a new one."""
    allowance = shown.allowance if shown else None
    terms = shown.terms if shown else _NEW
    ticked = ["may_borrow"] * terms.may_borrow
    ticked += ["earnable"] * (allowance is not None and allowance.earnable)
    blocks = [
        *([] if allowance is None else _terms_section(allowance, terms, today)),
        fields.field(
            "name", gettext("Name"), fields.text_input(allowance.name if allowance else None)
        ),
        fields.code_field(allowance.code if allowance else None),
        *_granted_fields(terms),
        fields.field(
            "flags",
            gettext("Rules"),
            fields.checkboxes(fields.translated(_FLAGS), ticked),
            is_optional=True,
        ),
        *_limit_fields(terms),
        *_carried_fields(terms),
        *([] if allowance is None else [from_when]),
    ]
    title = gettext("Allowance") if allowance else gettext("Add an allowance")
    return screen.form_view(f"{NAME}.form", title, blocks, allowance.id if allowance else "")


_NEW: Final = AllowanceTerms(id="", valid_from=None, half_days_per_year=None)


def _granted_fields(terms: AllowanceTerms) -> list[Block]:
    steps = "\n".join(
        f"{step.after_years}: {words.number(days_of(step.half_days_per_year))}"
        for step in terms.by_tenure
    )
    return [
        fields.field(
            "days_per_year",
            gettext("Days per year"),
            fields.days_input(terms.half_days_per_year),
            hint=gettext("Leave empty if only people with days of their own get any."),
            is_optional=True,
        ),
        fields.field(
            "granting",
            gettext("Granted"),
            fields.select(fields.translated(_GRANTING), terms.granting),
        ),
        fields.field(
            "by_tenure",
            gettext("More with years of service"),
            fields.text_input(steps, _LONGEST_TENURE, placeholder="5: 27") | {"multiline": True},
            hint=gettext(
                "A line for each step: the years, a colon, and the days per year. “5: 27” gives 27 "
                "days a year after five years."
            ),
            is_optional=True,
        ),
    ]


def _limit_fields(terms: AllowanceTerms) -> list[Block]:
    return [
        fields.field(
            "available_after_months",
            gettext("Can be taken after (months at work)"),
            fields.number_input(terms.available_after_months, least=1, most=120),
            hint=gettext("Leave empty if it can be taken from the first day."),
            is_optional=True,
        ),
        fields.field(
            "overdraft_days",
            gettext("Overdraft (days)"),
            fields.days_input(terms.overdraft_half_days),
            hint=gettext("How far below zero it can be taken."),
            is_optional=True,
        ),
    ]


def _carried_fields(terms: AllowanceTerms) -> list[Block]:
    most = terms.carry_over_half_days
    carried = _ALL if most is None else _UP_TO if most else ids.NOTHING
    return [
        fields.field(
            "carried",
            gettext("Carried over to the next leave year"),
            fields.select(fields.translated(_CARRIED), carried),
        ),
        fields.field(
            "carry_over",
            gettext("Carry-over limit (days)"),
            fields.days_input(most or None),
            is_optional=True,
        ),
        fields.field(
            "carry_over_expires_after_months",
            gettext("Carried days expire after (months)"),
            fields.number_input(terms.carry_over_expires_after_months, least=1, most=12),
            hint=gettext(
                "Counted from the first day of the leave year. Leave empty if they don't expire."
            ),
            is_optional=True,
        ),
        fields.field(
            "credits_expire_after_months",
            gettext("Earned days expire after (months)"),
            fields.number_input(terms.credits_expire_after_months, least=1, most=120),
            hint=gettext("Counted from the day of the work. Leave empty if they don't expire."),
            is_optional=True,
        ),
    ]


def _terms_section(allowance: Allowance, in_force: AllowanceTerms, today: date) -> list[Block]:
    """The terms and their days, future ones with a button; none if they never changed."""
    if len(allowance.terms) < 2:
        return []
    future = [terms for terms in allowance.terms if _is_future(terms, today)]
    past = [terms for terms in allowance.terms if terms not in future]
    shown = past[-_MAX_PAST:]
    lines = [_dated(terms) for terms in shown]
    blocks = [layout.header(gettext("Terms")), layout.paragraph("\n".join(lines))]
    if more := len(past) - len(shown):
        blocks.append(layout.quiet(ngettext("{count} earlier", "{count} earlier", more)))
    for terms in future[:_MAX_FUTURE]:
        assert terms.valid_from is not None
        day = words.plain_day(terms.valid_from)
        take_back = layout.button(
            gettext("Take back"),
            f"{TERMS}.remove",
            f"{allowance.id} {terms.id}",
            spoken=gettext("Take back the terms from {day}", day=day),
        )
        blocks.append({**layout.paragraph(_dated(terms)), "accessory": take_back})
    more = len(future) - _MAX_FUTURE
    if more > 0:
        blocks.append(layout.quiet(ngettext("… and {count} more", "… and {count} more", more)))
    return [*blocks, layout.header(gettext("Today"))]


def _dated(terms: AllowanceTerms) -> str:
    shown = " · ".join(in_words(terms))
    if terms.valid_from is None:
        return gettext("At first: {terms}", terms=shown)
    day = words.plain_day(terms.valid_from)
    return gettext("From {day}: {terms}", day=day, terms=shown)


def _save(tx: Transaction, saving: Saving) -> object:
    values = _values(saving.form)
    allowance_id = saving.form.about
    if not allowance_id:
        return allowances.create(tx, values, by=saving.by, now=saving.now)
    return allowances.update(
        tx,
        allowance_id,
        values,
        effective_from=saving.form.day("effective_from"),
        by=saving.by,
        now=saving.now,
        recorder=saving.recorder,
    )


def _values(form: Form) -> dict[str, object]:
    """Raises InvalidInput."""
    ticked, code = form.several("flags"), form.text("code")
    return {
        "name": form.text("name") or "",
        **({"code": code} if code else {}),
        "earnable": "earnable" in ticked,
        "half_days_per_year": form.half_days("days_per_year"),
        "granting": form.chosen("granting"),
        "by_tenure": _steps(form.text("by_tenure") or ""),
        "may_borrow": "may_borrow" in ticked,
        "available_after_months": form.whole("available_after_months"),
        "overdraft_half_days": half_days_of(form.number("overdraft_days") or 0, "overdraft_days"),
        "carry_over_half_days": _carry_over(form),
        "carry_over_expires_after_months": form.whole("carry_over_expires_after_months"),
        "credits_expire_after_months": form.whole("credits_expire_after_months"),
    }


def _carry_over(form: Form) -> object:
    """Raises InvalidInput."""
    carried, most = form.chosen("carried"), form.half_days("carry_over")
    if carried == _ALL:
        return None
    if carried == _UP_TO and most is None:
        raise InvalidInput.of(
            "carry_over", "required", gettext_noop("Enter how many days are carried over.")
        )
    return most if carried == _UP_TO else 0


def _steps(typed: str) -> Sequence[TenureStep]:
    """Raises InvalidInput."""
    steps: list[TenureStep] = []
    for line in filter(None, map(str.strip, typed.splitlines())):
        match = _STEP.fullmatch(line)
        if match is None:
            raise InvalidInput.of(
                "by_tenure",
                "invalid_days",
                gettext_noop("Write each step on a line of its own, such as “5: 27”."),
            )
        years, days = match.groups()
        half_days = amount_of(float(days.replace(",", ".")), "by_tenure")
        steps.append(TenureStep(after_years=int(years), half_days_per_year=half_days))
    return tuple(steps)


async def _ask_taking_back(interaction: Interaction) -> None:
    """Show what changes without the terms, and ask to confirm."""
    await interaction.ack()
    by = await modals.admin(interaction)
    about = interaction.value

    def dry_run(tx: Transaction) -> View:
        allowance_id, _, terms_id = about.partition(" ")
        config = organisation_config.of_organisation(tx, by.organisation_id)
        terms = dated_terms.find_terms(allowances.find(config, allowance_id), terms_id)
        named_effects = forms.effects_of(
            tx,
            lambda tx, recorder: allowances.delete_terms(
                tx, allowance_id, terms_id, by=by, now=interaction.now, recorder=recorder
            ),
            by=by,
        )
        return taking_back_view(about, terms, named_effects)

    await interaction.open(await interaction.database.dry_run(dry_run))


def taking_back_view(about: str, terms: AllowanceTerms, named_effects: NamedEffects) -> View:
    """The effects of taking back future terms; ``about`` is the allowance's id and theirs."""
    intro = gettext("These terms will not begin to count:") + f"\n{_dated(terms)}"
    return consequences.confirmation(
        gettext("Take back terms"),
        intro,
        named_effects,
        f"{TERMS}.remove.form",
        gettext("Take back"),
        about,
    )


async def _take_back(interaction: Interaction) -> None:
    by = await modals.admin(interaction)
    allowance_id, _, terms_id = interaction.private_metadata.partition(" ")

    def take_back(tx: Transaction) -> tuple[None]:
        allowances.delete_terms(tx, allowance_id, terms_id, by=by, now=interaction.now)
        return (None,)

    if await modals.run_once(interaction, take_back) is not None:
        await interaction.ack()
        shown = await screen.view(interaction, _read_form, by, allowance_id)
        await modals.refresh_below(interaction, shown)


def _ask_archiving(
    tx: Transaction, interaction: Interaction, by: Caller, allowance_id: str
) -> View:
    return archiving_view(allowances.get(tx, allowance_id, by=by, now=interaction.now).allowance)


def archiving_view(allowance: Allowance) -> View:
    sentence = gettext(
        "Leave types can no longer be given {name}. Leave and balances stay. An allowance that was "
        "never used is deleted.",
        name=layout.cut(words.allowance(allowance), layout.MAX_NAME),
    )
    return screen.archiving_view(NAME, gettext("Archive an allowance"), sentence, allowance.id)


def _archive(tx: Transaction, saving: Saving) -> object:
    """Archive the allowance, or delete it if it was never used."""
    return allowances.delete(tx, saving.form.about, by=saving.by, now=saving.now)


def register(app: AsyncApp) -> None:
    app.action(NAME)(screen.opens(read_list))
    app.action(f"{NAME}.more")(screen.shows_more(read_list))
    app.action(f"{NAME}.new")(screen.opens(_read_form))
    app.action(f"{NAME}.edit")(screen.opens(_read_form))
    app.action(f"{NAME}.menu")(
        screen.chooses(
            {
                ids.MENU_EDIT: screen.opens(_read_form),
                ids.MENU_ARCHIVE: screen.opens(_ask_archiving),
                ids.MENU_RESTORE: screen.restores(allowances.update, read_list),
            }
        )
    )
    forms.register(app, f"{NAME}.form", screen.confirms(_save, read_list))
    app.view(f"{NAME}.archive.form")(screen.saves(_archive, read_list))
    app.action(f"{TERMS}.remove")(_ask_taking_back)
    app.view(f"{TERMS}.remove.form")(_take_back)


SCREEN: Final = Screen(gettext_noop("Allowances"), NAME, register)
