"""The who's-out messages of channels."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final

from bot.base.block_kit import Message
from bot.base.language import gettext, ngettext
from bot.blocks import layout, words
from storage.notifications.digest_absences import DayOut, PersonOut
from storage.notifications.digests import Digest

# The longest list, escaped, within a section's 3,000 characters and a message's 4,000.
_MAX_LIST: Final = 2_600


def message(digest: Digest) -> Message:
    """``text`` has the same names as the blocks."""
    title = _title(digest)
    absences = digest.absences
    lines = layout.that_fit(
        [f"• {_with_cover(digest, person)}" for person in absences.out], _MAX_LIST
    )
    if not absences.out:
        lines = [gettext("No one is out.")]
    elif more := absences.total - len(lines):
        lines.append(ngettext("… and {count} more", "… and {count} more", more))
    heading = gettext("{title}:", title=title)
    return {
        "text": "\n".join((layout.escaped(heading), *map(layout.escaped, lines))),
        "blocks": [
            layout.section(f"*{layout.escaped(title)}*"),
            layout.paragraph("\n".join(lines)),
        ],
    }


def _title(digest: Digest) -> str:
    if digest.frequency == "daily":
        title = gettext("Out today, {day}", day=words.day(digest.day))
    else:
        title = gettext("Out this week, {days}", days=words.span(digest.day, digest.last_day))
    if digest.department_name is None:
        return title
    name = layout.one_line(layout.cut(digest.department_name, layout.MAX_NAME))
    return gettext("{department}: {title}", department=name, title=title)


def _with_cover(digest: Digest, person: PersonOut) -> str:
    cover_name = person.cover_name and layout.cut(person.cover_name, layout.MAX_NAME)
    line = _today(person, digest.day) if digest.frequency == "daily" else _week(digest, person)
    return words.with_cover(line, cover_name)


def _today(person: PersonOut, today: date) -> str:
    name, what = _name_and_type(person)
    (day_out,) = person.days
    if day_out.half == "am":
        return gettext("{name}: {what}, morning", name=name, what=what)
    if day_out.half == "pm":
        return gettext("{name}: {what}, afternoon", name=name, what=what)
    if person.last_day == today:
        return gettext("{name}: {what}", name=name, what=what)
    return gettext(
        "{name}: {what}, until {day}", name=name, what=what, day=words.day(person.last_day)
    )


def _week(digest: Digest, person: PersonOut) -> str:
    name, what = _name_and_type(person)
    days = ", ".join(_runs(person.days))
    if person.last_day <= digest.last_day:
        return gettext("{name}: {what}, {days}", name=name, what=what, days=days)
    return gettext(
        "{name}: {what}, {days}, until {day}",
        name=name,
        what=what,
        days=days,
        day=words.day(person.last_day),
    )


def _runs(days: Sequence[DayOut]) -> list[str]:
    """``Mon to Wed``, ``Fri morning``: whole days that follow one another are one run."""
    runs: list[list[DayOut]] = []
    for day_out in days:
        previous = runs[-1][-1] if runs else None
        is_next = previous is not None and day_out.day - previous.day == timedelta(days=1)
        if is_next and previous is not None and previous.half is day_out.half is None:
            runs[-1].append(day_out)
        else:
            runs.append([day_out])
    return [_run(run) for run in runs]


def _run(run: Sequence[DayOut]) -> str:
    first, last = run[0], run[-1]
    day = words.short_weekday(first.day.weekday())
    if first.half == "am":
        return gettext("{day} morning", day=day)
    if first.half == "pm":
        return gettext("{day} afternoon", day=day)
    if first is last:
        return day
    return gettext("{first} to {last}", first=day, last=words.short_weekday(last.day.weekday()))


def _name_and_type(person: PersonOut) -> tuple[str, str]:
    name = layout.cut(person.name, layout.MAX_NAME)
    if person.type_name is None:
        return name, gettext("Away")
    return name, layout.cut(words.type_name(person.type_name), layout.MAX_NAME)
