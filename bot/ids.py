"""Every name that Slack gives back to us: commands, callbacks, actions, blocks.

Values behind buttons are ids and nothing else: what somebody may do is asked when he clicks.
"""

from __future__ import annotations

from typing import Final

# What HIATUS_SLACK_COMMAND replaces.
COMMAND: Final = "/timeoff"
# Slack keeps it for itself in most workspaces; where it does not, it opens the same form.
LEAVE_COMMAND: Final = "/leave"
# Named in manifest.yml, as the command is.
REQUEST_SHORTCUT: Final = "request_leave"

REQUEST_FORM: Final = "leave.request"
APPROVE: Final = "leave.approve"
DECLINE: Final = "leave.decline"
DECLINE_FORM: Final = "leave.decline.form"

# Blocks of the request form bear the names of the fields that the domain refuses by.
LEAVE_TYPE: Final = "leave_type_id"
FIRST_DAY: Final = "start_date"
LAST_DAY: Final = "end_date"
BEGINS: Final = "start_half_day"
ENDS: Final = "end_half_day"
NOTE: Final = "note"
REASON: Final = "reason"

# Beside a block's id, the action id of its one element.
ANSWER: Final = "answer"

WHOLE_DAY: Final = "whole_day"
MIDDAY: Final = "midday"

# The Home tab, and what is opened from it.
HOME: Final = "home"
HOME_REQUEST: Final = "home.request"
HOME_EDIT: Final = "home.edit"
HOME_CANCEL: Final = "home.cancel"
HOME_APPROVE: Final = "home.approve"
HOME_DECLINE: Final = "home.decline"
HOME_DECLINE_FORM: Final = "home.decline.form"
HOME_NEXT: Final = "home.next"
HOME_FIRST: Final = "home.first"
HOME_SCOPE: Final = "home.scope"
