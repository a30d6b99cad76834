"""The German vocabulary. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache

from bot.typed.vocabulary import Words, names


def _forms(*stems: str) -> tuple[str, ...]:
    """German adjectives as they are declined: ``nächste``, ``nächsten``, ``nächster``, …"""
    return tuple(stem + ending for stem in stems for ending in ("e", "en", "er", "es", "em"))


@cache
def german() -> Words:
    return Words(
        months=names("de", "months") | {"jänner": 1, "mrz": 3},
        weekdays=names("de", "days") | {"sonnabend": 5},
        days_from_today={"vorgestern": -2, "gestern": -1, "heute": 0, "morgen": 1, "übermorgen": 2},
        halves={
            "vormittag": "am",
            "vormittags": "am",
            "früh": "am",
            "nachmittag": "pm",
            "nachmittags": "pm",
        },
        unnamed_halves=(r"halbe[nrsm]?(?: tage?)?", "halbtags", "halb"),
        numbers={
            name: number
            for number, names in enumerate(
                (
                    *(
                        ("ein", *_forms("ein")),
                        ("zwei",),
                        ("drei",),
                        ("vier",),
                        ("fünf",),
                        ("sechs",),
                    ),
                    *(("sieben",), ("acht",), ("neun",), ("zehn",)),
                ),
                1,
            )
            for name in names
        },
        which_week={
            **dict.fromkeys(_forms("dies"), "this"),
            **dict.fromkeys(_forms("kommend"), "coming"),
            # For "nächsten Freitag" some people mean the coming one, some that of the next week.
            **dict.fromkeys(_forms("nächst"), "next_or_coming"),
            **dict.fromkeys(_forms("letzt", "vergangen", "vorig"), "last"),
        },
        to=("bis", "bis zum", "bis einschliesslich", "bis einschliesslich zum"),
        since=("seit", "seit dem"),
        starting=("ab", "ab dem", "von", "vom"),
        within=("in",),
        one_day=("tag",),
        day_units=("tag", "tage", "tagen"),
        week_units=("woche", "wochen"),
        week_of=("(?:in )?(?:der |die )?woche (?:vom|ab|ab dem)",),
        fillers=frozenset(
            (
                "an",
                "auf",
                "beantragen",
                "bin",
                "bitte",
                "brauche",
                "das",
                "dem",
                "den",
                "der",
                "die",
            )
            + (
                "einschliesslich",
                "frei",
                "für",
                "gern",
                "gerne",
                "habe",
                "ich",
                "im",
                "lang",
                "mein",
            )
            + ("meinen", "mir", "möchte", "nehme", "nehmen", "um", "und", "zum")
            + ("ein", *_forms("ein"))
        ),
        leave_words=frozenset(("ferien", "urlaub")),
        # "am Freitag" is on Friday, "Freitag am Vormittag" in its morning.
        prepositions=frozenset(("am",)),
    )
