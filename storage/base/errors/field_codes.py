"""The codes of single fields: what each means, and what the client can do about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIELD_CODES: Final[Mapping[str, tuple[str, str]]] = {
    "after_end_date": (
        "The day is after the person's last day of employment.",
        "Choose the last day or an earlier one, or change `end_date` of the user first.",
    ),
    "ambiguous_date": (
        "The dates of the import file do not show whether the day or the month is first.",
        "Say it with `date_order`.",
    ),
    "before_start_date": (
        "The day is before the person's first day of employment.",
        "Choose the first day or a later one, or change `start_date` of the user first.",
    ),
    "allowance_not_earnable": (
        "Time in lieu cannot be claimed for this allowance: it is not `earnable`, or archived.",
        "Choose another allowance, or let an admin set `earnable`.",
    ),
    "ambiguous": (
        "Several departments have the name that a line of the import file gives.",
        "Rename one of them first.",
    ),
    "contains_nul": ("The text contains the character NUL.", "Remove it."),
    "control_character": (
        "The text contains control characters, characters that change the direction of the text "
        "(U+202A to U+202E, U+2066 to U+2069), or line breaks in a single-line field.",
        "Remove the character that `detail` names.",
    ),
    "cover_archived": (
        "An archived person cannot cover.",
        "Choose an active colleague.",
    ),
    "cover_inactive": (
        "The person who would cover is deactivated, or has not used Hiatus yet.",
        "Choose an active colleague.",
    ),
    "cover_is_requester": (
        "People cannot cover for themselves.",
        "Choose a colleague, or omit `cover_user_id`.",
    ),
    "cover_required": (
        "This leave type requires a colleague who covers.",
        "Send `cover_user_id` with the request.",
    ),
    "does_not_match": (
        "The address is not that of the person to erase.",
        "Send the person's `email` as `confirm`. Check that it is the person you mean.",
    ),
    "duplicate_working_day": ("A working day is listed twice.", "List each half-day once."),
    "email_not_confirmed": (
        "Slack has not confirmed the account's e-mail address.",
        "Enter the address yourself if you know whose account it is.",
    ),
    "empty": (
        "The import file is empty.",
        "Name the columns in its first line, and write one person per line.",
    ),
    "end_before_start": (
        "The last day is before the first.",
        "Swap the dates; leave includes both.",
    ),
    "end_date_before_start_date": (
        "The last day of employment is before the first.",
        "Use an `end_date` on or after `start_date`.",
    ),
    "expiry_in_past": ("The key would expire before it is created.", "Use a time in the future."),
    "first_record_start": (
        "The first employment record begins with the employment, so it cannot be moved.",
        "Change `start_date` of the user.",
    ),
    "formula": (
        "A cell of the import file is a formula.",
        "Save the file with its result instead.",
    ),
    "hours_per_day_unknown": (
        "The import file has an amount in hours.",
        "Send `hours_per_day`.",
    ),
    "in_future": ("The day has not come yet.", "Use today or an earlier day."),
    "impossible_date": (
        "A leave year cannot begin on this day, such as 31 February.",
        "Use a month from 1 to 12 and a day that it has every year.",
    ),
    "impossible_half_days": (
        "Leave on a single day cannot start in the afternoon and end in the morning.",
        "Use `am` and `pm`, in this order, or omit both for the whole day.",
    ),
    "invalid_channel": (
        "This is not the id of a Slack channel.",
        "Copy the id from the channel's details in Slack; it looks like C0123ABCD.",
    ),
    "invalid_code": (
        "A code has lower-case letters, digits and single hyphens, such as study-leave.",
        "Remove spaces, capitals and other characters.",
    ),
    "invalid_colour": (
        "This is not a colour.",
        "Use #rrggbb, such as #2e86de.",
    ),
    "invalid_date": ("This date does not exist.", "Use YYYY-MM-DD, such as 2026-08-03."),
    "invalid_date_time": (
        "This is not a point in time.",
        "Use date, time and UTC offset, such as 2026-01-31T09:00:00Z.",
    ),
    "invalid_email": ("This is not an e-mail address.", "Use the form ada@example.com."),
    "invalid_emoji": (
        "This is not the short name of an emoji.",
        "Use Slack's name for it, such as palm_tree, with or without colons.",
    ),
    "invalid_idempotency_key": (
        "An `Idempotency-Key` has 1 to 255 printable ASCII characters, and the header is sent "
        "once.",
        "Use a random UUID.",
    ),
    "invalid_length": ("The text is empty or too long.", "`detail` says how long it may be."),
    "invalid_slug": (
        "A slug has lower-case letters, digits and single hyphens.",
        "Remove spaces, capitals and other characters.",
    ),
    "invalid_team_id": (
        "This is not the id of a Slack workspace.",
        "Use the workspace's id, which looks like T0123ABCD.",
    ),
    "invalid_time": ("This is not a time of day.", "Use HH:MM, such as 09:00."),
    "invalid_value": ("The value cannot be used here.", "`detail` says what is expected."),
    "leave_type_archived": (
        "Leave of an archived type cannot be requested.",
        "Choose a type whose `is_archived` is false.",
    ),
    "interruption_extended": (
        "Leave that interrupts other leave keeps its leave type and cannot be extended.",
        "Interrupt the leave again for more days, or cancel the interruption.",
    ),
    "leave_type_cannot_interrupt": (
        "This leave type does not replace leave that is already booked (`may_interrupt`).",
        "Choose a type whose `may_interrupt` is true.",
    ),
    "manager_archived": (
        "An archived person cannot be a manager.",
        "Choose an active person.",
    ),
    "manager_cycle": (
        "The manager reports, directly or indirectly, to this person.",
        "Choose a manager outside the person's own reports.",
    ),
    "mixed_scripts": (
        "The part of the address before the @ mixes letters of different alphabets, such as Latin "
        "and Cyrillic, and could look like another address.",
        "Type the address again in one alphabet.",
    ),
    "new_person": (
        "The line adds a new person, and `effective_from` is for changes of a person.",
        "Leave the cell empty: a new person's values count from their first day.",
    ),
    "no_events": ("The list of events is empty.", "Send one or more events, or `*` for all."),
    "no_scopes": ("The list of scopes is empty.", "Send at least one scope."),
    "no_visible_letter": (
        "The name has no letter or digit that can be seen.",
        "Send a name with at least one letter or digit.",
    ),
    "no_working_days": ("The list of working days is empty.", "Choose at least one working day."),
    "no_working_time": (
        "No day would count: these are non-working days or public holidays.",
        "Choose days on which the person works; no leave is needed for the others.",
    ),
    "not_a_boolean": ("The field must be true or false.", "Send true or false, unquoted."),
    "not_a_number": ("The parameter is not a whole number.", "Send digits only, such as 50."),
    "not_a_uuid": ("An id is a UUID.", "Copy the `id` from a response of this API."),
    "not_csv": (
        "The import file is not valid CSV.",
        "`detail` names the line; check its quotation marks.",
    ),
    "not_found": (
        "An id in the body or query does not exist in this organisation.",
        "Copy the id from a response of this API.",
    ),
    "not_half_days": (
        "Days must be from 0 to 366, in steps of a half.",
        "Send a number such as 25 or 12.5.",
    ),
    "not_in_days": (
        "The exported allowance is in hours.",
        "Turn it into days.",
    ),
    "not_one_of": ("Only certain values are possible.", "`detail` lists them."),
    "not_text": (
        "The import file is not text, for example a spreadsheet.",
        "Save it as CSV UTF-8.",
    ),
    "not_utf_16": (
        "The import file begins as UTF-16 but is not valid UTF-16.",
        "Save it as CSV UTF-8.",
    ),
    "not_utf_8": ("The import file is not valid UTF-8.", "Save it as CSV UTF-8."),
    "note_required": ("This leave type requires a note.", "Send `note` with the request."),
    "not_with_replaces": (
        "A preview of a change has the person of the request that it replaces.",
        "Omit `user_id` or `replaces`.",
    ),
    "other_amount": (
        "Hiatus counts another number of days than the import file says.",
        "Correct dates, half-days, working days or the amount.",
    ),
    "override_of_own_leave": (
        "The rules can be overridden only for another person's leave.",
        "Send the person's `user_id` as well, or omit `override_reason`.",
    ),
    "override_without_reason": (
        "The reason for overriding the rules is blank.",
        "Send the reason, or omit `override_reason`.",
    ),
    "nothing_effective": (
        "The field `effective_from` was sent without a field that it applies to.",
        "Send `working_days`, `leave_allowance`, `public_holiday_country_code` or "
        "`department_id` with it.",
    ),
    "out_of_range": ("The number is too small or too large.", "`detail` names the bounds."),
    "out_of_reach": (
        "The leave is more than two years in the future or in the past.",
        "Choose dates that are closer to today.",
    ),
    "outside_leave": (
        "An interruption lies within the leave that it interrupts.",
        "Choose dates and halves of the leave; for other days, create a new request.",
    ),
    "past_days": (
        "The change touches days of approved leave before today. Its owner can only change what "
        "lies ahead: leave that has begun can end today or later.",
        "Leave those days as they are, or ask an admin or owner to change them. An amendment whose "
        "days have passed can only be declined.",
    ),
    "person_archived": (
        "The person in `user_id` is archived and can have no new leave.",
        "Restore the person first.",
    ),
    "read_only": (
        "The field cannot be changed, and its value differs from the stored one.",
        "Omit it, or send the value that GET returns.",
    ),
    "repeated_email": ("The import file has two lines for the same person.", "Keep one of them."),
    "repeated_employee_number": (
        "The import file gives two people the same employee number.",
        "Correct one of the two lines.",
    ),
    "repeated_field": ("A JSON object contains the same name twice.", "Send each field once."),
    "repeated_parameter": ("A query parameter was sent twice.", "Send it once."),
    "required": ("The field is missing, or null where it must not be.", "Send it."),
    "same_dates": ("The dates are those of the request.", "Suggest others."),
    "same_leave_type": (
        "The leave already has this type.",
        "Interrupt leave of another type.",
    ),
    "scope_not_held": (
        "A new key can only have scopes that the key in use has itself.",
        "Omit the others, or use a key that has them.",
    ),
    "several_days": (
        "The lines of the import file name several days for `days_left`.",
        "Use one file for each day.",
    ),
    "start_date_after_record": (
        "A later employment record begins on this day or before it.",
        "Change or delete that record first, or use an earlier `start_date`.",
    ),
    "to_before_from": (
        "The period ends before it begins: `to` is before `from`.",
        "Swap the two dates, or leave one of them out.",
    ),
    "too_large": ("The import file is too large.", "`detail` names the limit; split the file."),
    "too_little_notice": (
        "This leave type must be requested earlier (`min_notice_days`).",
        "Choose a later first day, or ask an admin to change the type.",
    ),
    "too_long_ago": ("The day is too far in the past.", "`detail` names the first possible day."),
    "too_long": ("There are too many characters, entries or days.", "`detail` names the limit."),
    "too_many_cells": (
        "A line of the import file has more cells than the header has columns.",
        "Quote cells that contain the separator.",
    ),
    "too_many_days": (
        "This leave type allows fewer days in a row (`max_consecutive_days`).",
        "Request fewer days, or ask an admin to change the type.",
    ),
    "too_many_employments": (
        "The person has been hired again as often as Hiatus records.",
        "Create a new user for them.",
    ),
    "too_short": ("There are too few characters or entries.", "`detail` names the limit."),
    "unknown_category": (
        "The country or region has no holidays of this category.",
        "Use some of the set's `available_categories`; `detail` lists them.",
    ),
    "unknown_country": (
        "No public holidays are known for this country or region.",
        "Use an ISO 3166-1 code of two letters, with a region where there is one: `GB-SCT`.",
    ),
    "unknown_half_day": (
        "A half-day of the import file is neither `am` nor `pm`.",
        "Use one of them, or leave the cell empty.",
    ),
    "unknown_language": (
        "Hiatus has no such language for second names of leave types.",
        "Use one of the codes that `detail` names.",
    ),
    "unknown_emoji": (
        "Slack has no standard emoji with this name.",
        "Use one that every workspace has, such as palm_tree; custom emoji cannot be used.",
    ),
    "unknown_event": ("This event does not exist.", "`detail` lists the events."),
    "unknown_field": (
        "The body has a field that this operation does not know; it might be misspelt.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_frequency": ("This frequency of a digest does not exist.", "Use daily or weekly."),
    "unknown_half": (
        "This half of a day does not exist.",
        "Use am or pm, or null for the whole day.",
    ),
    "unknown_leave_type": (
        "This leave type does not exist.",
        "List them with `GET /api/v1/leave-types`.",
    ),
    "unknown_leave_year_type": (
        "This kind of leave year does not exist.",
        "Use calendar, fiscal or anniversary.",
    ),
    "unknown_locale": ("Hiatus does not have this language.", "`detail` lists the languages."),
    "unknown_parameter": (
        "The query has a parameter that this operation does not know. It is refused because a "
        "mistyped filter would return too much.",
        "Remove it, or compare its name with the documentation.",
    ),
    "unknown_status": (
        "The import file has a status of leave that is not known.",
        "Use one that `detail` names.",
    ),
    "unknown_user": (
        "No person of your organisation has the id in `user_id`.",
        "List them with `GET /api/v1/users`.",
    ),
    "unknown_role": (
        "This role does not exist.",
        "Use member, approver, admin or owner.",
    ),
    "unknown_scope": ("This scope does not exist.", "`detail` lists the scopes."),
    "unknown_timezone": (
        "This time zone does not exist.",
        "Use a name from the IANA database, such as Europe/London.",
    ),
    "unknown_variant": ("The variants are 1 and 2.", "Send one of them."),
    "unknown_working_day": (
        "This is not a working day.",
        "Use monday to sunday, or friday:am and friday:pm for half-days.",
    ),
    "url_has_user_info": (
        "The URL contains a user name or password.",
        "Remove it; receivers verify deliveries by their signature.",
    ),
    "url_invalid": ("This URL cannot be called.", "`detail` says what is wrong."),
    "url_not_https": ("Webhooks are sent over https only.", "Use an https:// URL."),
    "url_private_address": (
        "The URL leads to a private, loopback or otherwise internal address.",
        "Use a host that the internet can reach.",
    ),
    "user_not_active": (
        "The person is deactivated or archived and cannot have a key.",
        "Reactivate the person first, or choose another.",
    ),
    "within_earlier_employment": (
        "The day is before the end of the person's earlier employment.",
        "Choose a day after the `end_date` of the last entry of `earlier_employment`.",
    ),
    "user_not_archived": (
        "Only archived people are hired again.",
        "Change `start_date` of the user instead.",
    ),
    "working_hours_out_of_order": (
        "The working day must start before midday and end after midday.",
        "Change `day_starts_at`, `midday_at` and `day_ends_at` together.",
    ),
    "wrong_columns": (
        "The header of the import file has unknown, repeated or missing columns.",
        "`detail` names each of them.",
    ),
    "wrong_format": ("The text does not have the expected form.", "`detail` describes it."),
    "wrong_type": (
        "The value has the wrong type, for example text instead of a number.",
        "Send numbers, true, false and null without quotation marks.",
    ),
    "contradicts_deducts_allowance": (
        "The fields `deducts_allowance` and `allowance_id` contradict each other.",
        "Send `allowance_id` alone: an allowance, or null for leave that draws on none.",
    ),
    "invalid_days": (
        "The number of days is negative, more than 366, or has more than two decimals.",
        "Use a number such as 25 or 16.8.",
    ),
    "invalid_second_approval": (
        "A second approval is needed `always`, or for leave of more days than `over_days`.",
        "Send `always` true or `over_days`, not both, or null for no second approval.",
    ),
    "not_available_yet": (
        "The allowance may not be taken before so many months of employment.",
        "Choose the day that `detail` names or a later one.",
    ),
    "not_with_anniversaries": (
        "People's leave years begin on different days, so carried days cannot expire with a month.",
        "Set `carry_over_expires_after_months` of the default allowance instead.",
    ),
    "tenure_not_rising": (
        "The steps of `by_tenure` are not in the order of years, or one is there twice.",
        "Sort them by `after_years`, each once.",
    ),
    "too_many_tenure_steps": (
        "The field `by_tenure` has more than 20 steps.",
        "Use fewer steps.",
    ),
    "unknown_allowance": (
        "There is no allowance with this id in use.",
        "Use one from `GET /api/v1/allowances`.",
    ),
    "unknown_pro_rata": (
        "There is no such way to grant parts of a leave year.",
        "Use `days`, `months_started` or `full_months`.",
    ),
    "unknown_rounding": (
        "There is no such rounding.",
        "Use `half_day_up`, `half_day_nearest`, `day_up` or `day_nearest`.",
    ),
    "unknown_granting": (
        "Days are granted `yearly` or `monthly`.",
        "Use one of these words.",
    ),
}
