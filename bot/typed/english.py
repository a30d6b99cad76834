"""The English vocabulary. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache

from bot.typed.vocabulary import Words, names


@cache
def english() -> Words:
    # Not at import: the names of months and days take Babel 5 MB.
    return Words(
        months=names("en_GB", "months") | {"sep": 9},
        weekdays=names("en_GB", "days") | {"tues": 1, "weds": 2, "thurs": 3, "thur": 3},
        days_from_today={
            "yesterday": -1,
            "today": 0,
            "tomorrow": 1,
            "tmrw": 1,
            "the day after tomorrow": 2,
            "day after tomorrow": 2,
            "the day before yesterday": -2,
            "day before yesterday": -2,
        },
        halves={"am": "am", "morning": "am", "pm": "pm", "afternoon": "pm"},
        unnamed_halves=(r"half(?:(?: an?)?[ -]?day)?",),
        numbers={
            name: number
            for number, names in enumerate(
                (
                    *(("a", "an", "one"), ("two",), ("three",), ("four",), ("five",), ("six",)),
                    *(("seven",), ("eight",), ("nine",), ("ten",)),
                ),
                1,
            )
            for name in names
        },
        which_week={"this": "this", "next": "next", "last": "last", "coming": "coming"},
        to=("to", "until", "till", "through"),
        since=("since",),
        starting=("from", "starting"),
        within=("in",),
        one_day=("day",),
        day_units=("day", "days"),
        week_units=("week", "weeks"),
        week_of=(r"(?:the )?week (?:of|commencing|beginning|starting)(?: the)?",),
        fillers=frozenset(
            ("a", "an", "and", "be", "for", "i", "i'll", "i'm", "in", "inclusive", "leave", "my")
            + ("need", "of", "off", "on", "please", "take", "taking", "the", "time", "want")
        ),
        leave_words=frozenset(("holiday", "holidays", "pto", "vacation")),
    )
