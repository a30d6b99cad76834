"""The English vocabulary. Keys are casefolded; some entries are regular expressions."""

from __future__ import annotations

from functools import cache
from typing import Final

from bot.parsing.vocabulary import MAIN, QuestionName, Words, names

_NOON: Final = "(?:noon|midday|lunch(?:time)?)"
_UNTIL: Final = "(?:to|until|till|through|thru|-)"
_LEAVING: Final = (
    "(?:(?:i'm|i'll be|i will be|i) )?(?:leaving|leave|finishing|finish|heading (?:off|out|home)|"
    "going home|knocking off)(?: work| the office| home)?(?: early)?"
)


_ONLY_WORKING: Final = (
    "(?:(?:i'm|i am|i'll be|i will be|i) )?"
    "(?:only (?:be )?(?:working|work|in)|(?:working|work|in) only)"
)
_A: Final = (
    "(?:an? |the |some |my )?(?:(?:really |very )?(?:bad|nasty|terrible|awful|horrible|heavy"
    "|slight) )?"
)
_ILLNESS: Final = (
    "(?:cold|fever|covid(?:-19)?|migraine|headache|toothache|sore throat|cough|food poisoning"
    "|tonsillitis"
    "|(?:stomach|tummy) (?:bug|ache|flu|pain)|upset stomach|bad back|back ?pain)"
)
_OFF: Final = (
    "(?:off|out|away|absent|ooo|on (?:leave|holiday|vacation|pto)|ill|sick)"
    "(?: of (?:the )?office)?(?: work)?"
)
_IN: Final = (
    "(?:in|around|here|there|at work|working|available|free|reachable|about)(?: the office)?"
    "(?: (?:today )?work)?"
)
_NO_DAY: Final = (
    "(?!(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|next|last|this|mon|tue|wed|thu|fri)"
    "\\w*\\s)"
)
_LEAVE: Final = (
    f"(?:(?:{_NO_DAY}\\w+ )?(?:leave|holidays?)|vacations?|time off|pto|days? off|requests?|trip"
    "|booking|absence)"
)
_MAY: Final = (
    "(?:(?:can|could|may) (?:i|you|we) |(?:i'd|i would|i) (?:like|want|need|have|wish) to "
    "|i wanna |let me |help me |how (?:do|can) i |i have to |i must |(?:need|want) to )?"
)
_CHANGE: Final = (
    "(?:mov(?:e|ing)|push(?:ing)?|shift(?:ing)?|reschedul(?:e|ing)|chang(?:e|ing)|postpon(?:e|ing)|delay(?:ing)?"
    "|edit|extend(?:ing)?|lengthen|prolong|shorten(?:ing)?|reduc(?:e|ing)|cut short|push back"
    "|bring forward|add a day to|amend|update)"
)
_CANCEL: Final = "(?:cancel(?:l?ing)?|withdraw(?:ing)?|delete|drop|remove|call off|undo|scrap)"
# As in ``Phrases.questions``.
QUESTIONS: Final[tuple[tuple[QuestionName, str], ...]] = (
    (
        "holidays",
        r"(?:(?:when(?:'s| is| are| (?:do|will) (?:we|i) (?:have|get))|what(?:'s| is| are)"
        r"|which(?: is| are)?"
        r"|show(?: me)?) )?(?:(?:the|our|my|a) )?(?:next|upcoming|coming) (?:public "
        r"|bank )?holidays?",
    ),
    (
        "holidays",
        r"(?:(?:what|which|when are|show(?: me)?|list|(?:are|will) there(?: be)?) )?(?:any )?"
        r"(?:(?:the|our|my) )?"
        r"(?:public|bank) holidays(?: (?:are there|do we have|are left|coming up))?"
        r"(?: this year)?{when}",
    ),
    (
        "holiday",
        r"(?:is|was|will) {before}(?:be )?(?:a|an) (?:public |bank )?(?:holiday|day off){when}",
    ),
    ("holiday", r"(?:do we have|have we got|are we) {before}off{when}"),
    ("me", rf"(?:am|will|was) i (?:be )?{{before}}(?:{_OFF}|{_IN}){{when}}"),
    ("me", r"(?:do|must|should) i (?:have to )?(?:work|be (?:in|at work)){when}"),
    ("me", r"do i have to (?:work|come in|be in){when}"),
    ("me", r"(?:do i have|have i got|have i) {before}off(?: work)?{when}"),
    (
        "booked",
        r"(?:(?:do i have|have i got|have i|is there|is|what(?: leave)? (?:do i have|have i got"
        r"|have i)|what's|what is|what) )?(?:anything |something |any (?:leave|holidays?|time off) "
        r"|leave |(?:what|which) (?:days|dates|holidays?)(?: off)? (?:have i got|have i|do i have)"
        r"(?: got)? )?(?:is )?(?:booked|planned|scheduled|entered)(?: off)?(?: for me)?{when}",
    ),
    (
        "booked",
        rf"(?:do i have|have i got|have i) (?:any |got )?(?:{_LEAVE})"
        r"(?: (?:booked|planned|scheduled|coming up))?{when}",
    ),
    (
        "approvers",
        rf"who (?:approves|decides(?: on)?|signs off|has to approve|will approve|can approve)"
        rf" my {_LEAVE}",
    ),
    ("approvers", r"who(?:'s| is| are) my approvers?"),
    ("change", rf"{_MAY}{_CHANGE} (?:(?:my|our|the) )?{_LEAVE}{{when}}"),
    ("change", rf"{_MAY}{_CHANGE} my {{before}}{_LEAVE}{{when}}"),
    ("change", rf"{_MAY}(?:{_CHANGE}|swap|switch|exchange) (?:my|the) {{before}}off{{when}}"),
    ("cancel", rf"{_MAY}{_CANCEL} (?:(?:my|our|the) )?{_LEAVE}{{when}}"),
    ("cancel", rf"{_MAY}{_CANCEL} my {{before}}{_LEAVE}{{when}}"),
    ("cancel", r"cancel(?= .){when}"),
    (
        "cancel",
        rf"(?:i )?(?:don't|do not|won't|no longer) (?:actually )?need (?:(?:my|the) )?"
        rf"(?:{_LEAVE} )?(?:on |for )?{{before}}(?:{_OFF} ?)?(?:any ?more|after all|now)",
    ),
    (
        "person_back",
        rf"(?:when(?:'s|s| is| does| will| do)?) {{who}} (?:is |will |be |come |coming |get |gets "
        rf"|going to be |expected )*(?:back|returning|return|returns|{_IN})(?: again)?{{when}}",
    ),
    (
        "person_back",
        rf"(?:until when|till when|how long)(?:'s| is| will| has) {{who}} (?:be |been )?{_OFF}"
        rf"(?: for)?",
    ),
    ("person_back", r"is {who} back (?:already|yet)"),
    (
        "person_in",
        rf"(?:is|will|was|isn't|won't) {{who}} (?:be |going to be |still |also |back |not )*"
        rf"(?:{_OFF}|{_IN}|back){{when}}",
    ),
    ("person_in", r"(?:does|is|did) {who} (?:work|working|come in|coming in){when}"),
    ("person_in", r"(?:does|has) {who} (?:have |got |taken )?{before}off{when}"),
    ("person_back", rf"when(?:'s| is| will) {{who}} (?:be |next )*{_OFF}(?: next)?"),
    ("person_in", rf"when(?:'s| is| will| are) {{who}} (?:be |next )*{_OFF}{{when}}"),
)


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
        to=("to", "until", "till", "through", "thru"),
        since=("since",),
        starting=("from", "starting"),
        within=("in",),
        one_day=("day",),
        day_units=("day", "days"),
        week_units=("week", "weeks"),
        week_of=(r"(?:the )?week (?:of|commencing|beginning|starting)(?: the)?",),
        numbered_week=("calendar week", "week", "week number", "wk", "cw"),
        before=("before", "prior to"),
        after=("after", "following"),
        back=(
            *(
                "back",
                "back again",
                "back at work",
                "back in",
                "back in the office",
                "back to work",
            ),
            *("returning", "returning to work"),
        ),
        ordinal_endings=("st", "nd", "rd", "th"),
        articles=("the",),
        of=("of",),
        exceptions=frozenset(
            ("but", "each", "every", "except", "excluding", "not", "or", "over", "without")
        ),
        also=("and", "&", "plus"),
        reasons=("because of", "because", "due to", "cos", "cause", "bc"),
        moving=frozenset(
            ("noon", "midday", "midnight", "lunch", "lunchtime", "breakfast", "dinner", "tonight")
            + ("evening", "evenings", "night", "nights", "overnight", "mornings", "afternoons")
            + ("hour", "hours", "hr", "hrs", "minute", "minutes", "min", "mins", "o'clock", "eod")
            + ("early", "earlier", "late", "later", "soon", "only", "no", "none", "instead", "rest")
            + ("maybe", "perhaps", "possibly", "probably", "fortnight", "fortnights", "onwards")
            + ("weekend", "weekends", "weekday", "weekdays", "month", "months", "year", "years")
            + ("day", "days", "week", "weeks", "daily", "weekly", "monthly", "quarter", "further")
            + ("nxt", "lst", "wk", "wks", "tmr", "tmw", "notice", "halves", "remainder", "past")
            + ("always", "never", "another", "both")
        ),
        fillers=frozenset(
            (
                "a",
                "an",
                "and",
                "as",
                "away",
                "be",
                "book",
                "for",
                "get",
                "going",
                "have",
                "i",
                "i'd",
            )
            + ("i'll", "i'm", "i've", "im", "in", "inclusive", "is", "it", "just", "leave", "my")
            + ("need", "of", "off", "on", "ooo", "out", "please", "request", "some", "take")
            + ("taking", "that", "the", "time", "want", "was", "will")
            + ("work", "afk", "booking")
        ),
        leave_words=frozenset(
            ("al", "holiday", "holidays", "hols", "pto", "vacation", "vacations", "vacay")
        ),
        type_words={
            **dict.fromkeys(("al", "holiday", "holidays", "hols"), MAIN),
            **dict.fromkeys(("pto", "vacation", "vacations", "vacay"), MAIN),
            **dict.fromkeys(("flu", "ill", "illness", "poorly", "sickness", "unwell"), "sick"),
            **dict.fromkeys(("maternity", "paternity"), "parental"),
            **dict.fromkeys(("bereavement", "funeral"), "compassionate"),
        },
        courtesies=(
            *("hi there", "hello there", "(?:is there )?any chance", "i (?:could|may|can)"),
            *("(?:i )?(?:won't|will not) be (?:in|here|there|around|available|working)", "gonna"),
            "(?:i )?(?:won't|will not|can't|cannot|can not) (?:come|make it)(?: in)?(?: to "
            "(?:work|the office))?",
            "(?:i'm |i am )?not coming(?: in)?(?: to (?:work|the office))?",
            "(?:i'm |i'll be |i'll )?stay(?:ing)? (?:at home|home|in bed)",
            *("possible", "calling in", "(?:i'm )?not going to (?:be in|make it|work)"),
            *("(?:i'm )?not (?:in|here|around|available|working|coming in)", "if that's ok(?:ay)?"),
            *("hi", "hello", "hey", "dear hiatus", "hiatus", "good morning", "good afternoon"),
            *("please", "pls", "plz", "thanks", "thank you", "thx", "cheers"),
            *("thanks a lot", "many thanks", "thanks so much", "thank you (?:very|so) much"),
            *("thanks in advance", "thank you in advance", "ty", "tysm", "danke", "merci"),
            *("(?:(?:do|would) you )?mind if(?: i)?", "(?:ok|okay) if i"),
            *("can i", "could i", "may i", "(?:can|could|would) (?:you|u)", "if possible"),
            *("too", "also", "as well", "hopefully", "fingers crossed"),
            *("would it be (?:possible|ok|okay) to", "is it (?:ok|okay) (?:if|to)"),
            *(
                "(?:i'd |i would |we'd )?(?:like|love) to",
                "(?:i'd|i would|we'd) (?:like|love)",
                "i (?:want|need|have|plan|wish) to",
            ),
            *("i'm (?:going|planning|hoping) to", "i am", "i want to", "i would like"),
            *("to (?:take|have|book|request|get|be|go|use)", "(?:put|book|mark|sign) me(?: down)?"),
            *("(?:i )?wanna(?: (?:take|have|book|get))?", "(?:a )?long weekend"),
            *("give me", "let me (?:have|take|book)", "so much"),
            *("all day", "(?:the )?(?:whole|full|entire) day", "(?:the )?whole(?: of)?", "all of"),
            *("out of (?:the )?office", r"so(?= i\b| i')"),
            "(?:both (?:days )?)?(?:inclusive|included)|inclusive of both(?: days)?",
        ),
        rewrites={
            # A greeting, not a half: "morning, friday off please".
            r"\A *(?:morning|afternoon|evening)(?= ?,| (?:i|i'd|i'm|can|could|may|please"
            r"|just)\b)": "",
            r"this (morning|afternoon)": r"today \1",
            r"(?:not (?:feeling )?well|(?:feeling )?sick day|feeling (?:sick|ill))": "ill",
            r"(?:feeling )?(?:a (?:bit|little) )?under the weather": "ill",
            r"feel(?:ing)? (?:(?:really|so|very|pretty|a bit) )?(?:awful|terrible|rough|dreadful"
            r"|horrible|bad|rotten|unwell|poorly|sick|ill)": "ill",
            rf"(?:(?:i've |i have |i )?(?:got|have|having|caught|down with|woke up with"
            rf"|suffering (?:from|with)|come down with) )?{_A}{_ILLNESS}": "ill",
            r"(?:paid|annual) (?:time off|vacation)|annual leave days?": "vacation",
            # "am off on friday", without "I".
            r"\A *am(?= (?:off|out|away|sick|ill|unwell|ooo|taking|going|not|having)\b)": "",
            # "leaving at noon on friday", "leaving friday at noon".
            rf"{_LEAVING}((?: \S+){{0,4}}?) (?:at|by|from|after)(?: about)? {_NOON}": r"\1 pm",
            rf"(from|starting|since)((?: (?!{_UNTIL} )\S+){{1,5}}?)(?: at)? {_NOON}": r"\1\2 pm",
            rf"({_UNTIL})((?: \S+){{1,5}}?)(?: at)? {_NOON}": r"\1\2 am",
            rf"(?:after|from|starting(?: at)?) {_NOON}": "pm",
            rf"(?:before|until|till) {_NOON}": "am",
            # "I'm only working the morning on friday" is an afternoon off.
            rf"{_ONLY_WORKING}((?: \S+){{0,3}}?)(?: in)?(?: the)? mornings?": r"\1 pm",
            rf"{_ONLY_WORKING}((?: \S+){{0,3}}?)(?: in)?(?: the)? afternoons?": r"\1 am",
            r"between (\S.*?) (?:and|&)": r"\1 -",
            r"(christmas|xmas|easter|thanksgiving) week": r"week of \1",
            r"(?:a |one |the )?fortnight": "2 weeks",
        },
        rest_of_week=("(?:the )?(?:rest|remainder) of (?:the|this) week",),
        week_after=("week(?! (?:of|commencing|beginning|starting|number)\\b| ?\\d)",),
        week_before=("a week on",),
        periods=(
            ("month", r"(?:all of|all|(?:the )?(?:whole|entire)(?: month)?(?: of)?) {month}"),
            ("first_week", r"(?:the )?first week (?:of|in) {month}"),
            ("last_week", r"(?:the )?last week (?:of|in) {month}"),
            ("first_weeks", r"(?:the )?(?:first {number}|{number} first) weeks (?:of|in) {month}"),
            ("last_weeks", r"(?:the )?(?:last {number}|{number} last) weeks (?:of|in) {month}"),
            ("first_half", r"(?:the )?first half of {month}"),
            ("second_half", r"(?:the )?(?:second|last|other) half of {month}"),
        ),
        next_year=("(?:of )?next year",),
        asked_periods=(
            ("month", r"(?:(?:in|during|for|over|any time in|sometime in) )?{month}"),
            ("this_month", r"(?:in |during )?this month"),
            ("month_end", r"(?:(?:at|by|until|for|on) )?(?:the )?end of {month}"),
            (
                "year_end",
                r"(?:(?:at|by|until|for|on) )?(?:the )?(?:end of (?:the|this) year|year's end)",
            ),
            ("next_month", r"(?:in |during )?next month"),
            ("christmas", r"(?:over|at|during|around) (?:christmas|xmas|the holidays)"),
        ),
        lookalikes=frozenset(
            ("mourning", "mooring", "moaning", "sundae", "sundry", "match", "marsh", "weak")
            + (
                "augusta",
                "marches",
                "marched",
                "holder",
                "backs",
                "later",
                "fist",
                "vocation",
                "letter",
            )
        ),
        week_after_next=("(?:the )?week after next",),
        errands=(
            "(?:i(?:'ve| have)? )?(?:got )?(?:an? |my |the )?"
            "(?:(?:dentist|doctor|gp|hospital|vet|medical|optician|midwife|physio)(?:['’]?s)?"
            "(?: (?:appointment|visit|check-?up))?|(?:appointment|meeting) (?:at|with) the \\w+"
            "|appointment|wedding|house move|moving house)",
            "(?:my )?(?:child|kid|son|daughter|little one)(?: is|'s|’s) (?:ill|sick|unwell|poorly)",
        ),
        past=frozenset(("was", "were", "been", "had")),
        ahead=(
            "won't",
            "will",
            "can't",
            "cannot",
            "can not",
            "i'll",
            "going to",
            "need",
            "i'd like",
            "(?:can|could|may) i",
        ),
        holiday_names={
            **dict.fromkeys(("christmas eve", "xmas eve"), "24 december"),
            **dict.fromkeys(("christmas", "christmas day", "xmas", "xmas day"), "25 december"),
            "boxing day": "26 december",
            **dict.fromkeys(("new year's eve", "new years eve", "nye"), "31 december"),
            **dict.fromkeys(("new year", "new years", "new year's"), "1 january"),
            **dict.fromkeys(("new year's day", "new years day"), "1 january"),
        },
    )
