"""The identifiers that Slack sends back: commands, callback ids, action ids, block ids.

Button values are ids and nothing else: permissions are checked when the button is clicked.
"""

from __future__ import annotations

from typing import Final

# The default of HIATUS_SLACK_COMMAND.
COMMAND: Final = "/timeoff"
# Slack reserves it in most workspaces; where it does not, it opens the same form.
LEAVE_COMMAND: Final = "/leave"
# Also in manifest.yml, like the command.
REQUEST_SHORTCUT: Final = "request_leave"

REQUEST_FORM: Final = "leave.request"
# The same form for a pending request, whose id is the private metadata.
EDIT_FORM: Final = "leave.edit.form"
# Records leave for another person, with a search for the person and a refresh of its own.
RECORD_FORM: Final = "leave.record"
RECORD_PERSON: Final = "leave.record.person"
RECORD_RECOUNT: Final = "leave.record.recount"
RECORD_COVER: Final = "leave.record.cover"
# A selection in either form.
RECOUNT: Final = "leave.recount"
# The search for a cover in either form, and a selection in it.
COVER_SEARCH: Final = "leave.cover"
# The buttons under typed words that were not understood, and under questions; the value is what was
# read, after the person's id if it is for another person.
OPEN_UNDERSTOOD: Final = "leave.understood"
RECORD_UNDERSTOOD: Final = "leave.understood.record"
# Sends the leave that its card shows; the value is what was shown, and what is sent.
SEND_UNDERSTOOD: Final = "leave.understood.send"
# The form that records leave, and the one that claims time in lieu, for typed words in a
# conversation; the value is what was read.
CLAIM_UNDERSTOOD: Final = "time_credit.understood"
# Questions that the app answers after a click: buttons of the help in a conversation.
ASK_OUT: Final = "conversation.out"
ASK_BALANCE: Final = "conversation.balance"
ASK_MINE: Final = "conversation.mine"
# Buttons of the user's own requests in any message; the value is the request's id.
EDIT: Final = "leave.edit"
CANCEL: Final = "leave.cancel"
ASK_AGAIN: Final = "leave.ask_again"
# The value is the id and the last day of sick leave that goes on.
STILL_SICK: Final = "leave.still_sick"
# Opens the form of covered leave at its cover; the value is the request's id.
OTHER_COVER: Final = "leave.cover.other"
# Approves what the inbox shows as clear, in a message or on Home. Its form asks for confirmation
# and keeps the message, if there is one, and the ids and versions of the requests.
INBOX_APPROVE: Final = "inbox.approve"
INBOX_FORM: Final = "inbox.approve.form"
INBOX_HOME: Final = "inbox.home"
# Buttons of amendments; the value is the amendment's id.
WITHDRAW: Final = "leave.amendment.withdraw"
AMENDMENT_APPROVE: Final = "leave.amendment.approve"
AMENDMENT_DECLINE: Final = "leave.amendment.decline"
AMENDMENT_DECLINE_FORM: Final = "leave.amendment.decline.form"
# The button of approved leave, whose id is the value, and the form that it opens.
INTERRUPT: Final = "leave.interrupt"
INTERRUPTION_FORM: Final = "leave.interruption.form"
# The cancel button in the list that the command shows.
CANCEL_LISTED: Final = "leave.cancel.listed"
# Buttons about leave that was recorded for another person; the value is the request's id.
OBJECT: Final = "leave.object"
CANCEL_RECORDED: Final = "leave.cancel.recorded"
APPROVE: Final = "leave.approve"
DECLINE: Final = "leave.decline"
# The approver's button and its form, on a card or on Home; a selection in the form; and the
# requester's buttons, whose value is the suggestion's id.
SUGGEST: Final = "leave.suggest"
SUGGEST_FORM: Final = "leave.suggest.form"
SUGGEST_RECOUNT: Final = "leave.suggest.recount"
SUGGESTION_ACCEPT: Final = "leave.suggestion.accept"
SUGGESTION_DECLINE: Final = "leave.suggestion.decline"
# Shown for ten minutes after the first of two approvals.
TAKE_BACK: Final = "leave.approval.take_back"
DECLINE_FORM: Final = "leave.decline.form"
# Opened by Approve for admins if too little allowance is left.
APPROVE_ANYWAY_FORM: Final = "leave.approve.anyway.form"
# Shown for ten minutes after a decision; it opens one of the two forms. The value is in messages
# that are in Slack already.
REVERSE: Final = "leave.reconsider"
REVERSE_TO_APPROVED_FORM: Final = "leave.approve.after_all.form"
REVERSE_TO_DECLINED_FORM: Final = "leave.decline.after_all.form"

# Block ids of the request form equal the field names in InvalidInput.
LEAVE_TYPE: Final = "leave_type_id"
FIRST_DAY: Final = "start_date"
LAST_DAY: Final = "end_date"
BEGINS: Final = "start_half_day"
ENDS: Final = "end_half_day"
# In place of the two above while the leave is a single day.
PART_OF_DAY: Final = "part_of_day"
NOTE: Final = "note"
COVER: Final = "cover_user_id"
PERSON: Final = "user_id"
EXCEPTION_REASON: Final = "override_reason"
REASON: Final = "reason"

# Confirms an unusual first day; the block's id also has the leave type and that day.
FAR_AHEAD: Final = "far_ahead"

# The live total, the alerts, who else is off, and typed words that were not understood.
LIVE: Final = "live"
# With the name of the field above it; without one, about the whole form.
ALERT: Final = "alert."
WARNINGS: Final = "warnings"
OFF: Final = "off"
ASIDES: Final = "asides"

# The action id of the only element of a block.
ANSWER: Final = "answer"

WHOLE_DAY: Final = "whole_day"
MIDDAY: Final = "midday"
MORNING: Final = "morning"
AFTERNOON: Final = "afternoon"

# The Home tab and what it opens.
HOME: Final = "home"
HOME_REQUEST: Final = "home.request"
# What few people do, in a menu of the first row.
HOME_MORE: Final = "home.more"
# The menu of a person's own leave, and the form that its Cancel opens, which has the request's id.
HOME_LEAVE_MENU: Final = "home.leave.menu"
HOME_CANCEL_FORM: Final = "home.cancel.form"
# The menu of the settings, a modal, whose buttons replace it.
SETTINGS: Final = "settings"
# Opens the form of sick leave for today, also in messages.
SICK: Final = "leave.sick"
HOME_APPROVE: Final = "home.approve"
HOME_DECLINE: Final = "home.decline"
HOME_DECLINE_FORM: Final = "home.decline.form"
HOME_AMENDMENT_APPROVE: Final = "home.amendment.approve"
HOME_AMENDMENT_DECLINE: Final = "home.amendment.decline"
HOME_AMENDMENT_DECLINE_FORM: Final = "home.amendment.decline.form"
HOME_NEXT: Final = "home.next"
HOME_FIRST: Final = "home.first"
HOME_SCOPE: Final = "home.scope"
# The value is the step; it opens the settings in which the step is done.
CHECKLIST_STEP: Final = "home.checklist.step"
CHECKLIST_HIDE: Final = "home.checklist.hide"

# Time in lieu: the form, and the buttons of a claim, whose id is their value, in
# messages and on Home.
TIME_CREDIT_FORM: Final = "time_credit.form"
TIME_CREDIT_APPROVE: Final = "time_credit.approve"
TIME_CREDIT_DECLINE: Final = "time_credit.decline"
TIME_CREDIT_DECLINE_FORM: Final = "time_credit.decline.form"
TIME_CREDIT_CANCEL: Final = "time_credit.cancel"

# Opens the ledger of the balances; the value is a day, or "" for today. The other is its day.
BALANCE: Final = "balance"
BALANCE_DAY: Final = "balance.day"
# Tells the admins that the person's balance is not right.
BALANCE_NOT_RIGHT: Final = "balance.not_right"
# "Got it" under a notice of days that lapse, whose id is the value.
EXPIRY_SEEN: Final = "expiry.seen"

# The calendar of who is off, in a message and in a modal; the values say what to show.
CALENDAR: Final = "calendar"
CALENDAR_BACK: Final = "calendar.back"
CALENDAR_FORTH: Final = "calendar.forth"
CALENDAR_SCOPE: Final = "calendar.scope"
CALENDAR_FIRST: Final = "calendar.first"
CALENDAR_NEXT: Final = "calendar.next"

# Suffix of a form's callback id: the view that asks to confirm the form's effects.
CONFIRMED: Final = ".confirmed"

# What menus of rows in settings and on Home offer.
MENU_EDIT: Final = "edit"
MENU_BALANCE: Final = "balance"
MENU_DEACTIVATE: Final = "deactivate"
MENU_ARCHIVE: Final = "archive"
MENU_RESTORE: Final = "restore"
MENU_DELETE: Final = "delete"
MENU_CANCEL: Final = "cancel"
MENU_WITHDRAW: Final = "withdraw"
MENU_FELL_ILL: Final = "fell_ill"
MENU_RECORD: Final = "record"
MENU_CLAIM: Final = "claim"
# Opens the settings of a webhook, also in messages; the value is its id. The other ids of settings
# are in the modules of ``bot.screens``.
WEBHOOK: Final = "settings.webhook"
FEEDS: Final = "settings.feeds"
OPEN_PERSON: Final = "settings.people.open"

# The option for "none" in menus that cannot be emptied.
NOTHING: Final = "none"
