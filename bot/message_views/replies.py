"""Short messages: help, notifications to requesters and admins, one-sentence modals."""

from __future__ import annotations

from typing import Final

from bot.base.language import gettext, gettext_noop
from bot.blocks import text
from storage.base import support_contact

# Examples for the command; the parser must understand their translations, too.
EXAMPLES: Final = (
    gettext_noop("3-7 aug"),
    gettext_noop("next fri pm sick"),
    gettext_noop("24 dec - 2 jan unpaid"),
)

_MAX_COMMAND = 40


def help_text(command: str, *, contact: str = "") -> str:
    """The command's help in mrkdwn."""
    examples = [f"{command} {gettext(typed)}" for typed in EXAMPLES]
    lines = (
        gettext("`{command}` opens the request form.", command=command),
        gettext(
            "`{one}`, `{other}` or `{third}` fills it in for you.",
            one=examples[0],
            other=examples[1],
            third=examples[2],
        ),
        gettext("`{command} balance` shows how many days you have left.", command=command),
        gettext(
            "`{command} out` shows who's off today; `{command} out week` shows the rest of "
            "the week (at weekends, next week too).",
            command=command,
        ),
        gettext("`{command} calendar` shows your team's next two weeks.", command=command),
        gettext(
            "`{command} mine` lists your leave; `{command} cancel` lets you cancel it.",
            command=command,
        ),
        gettext(
            "`{command} @name sick today` records leave for a person whose leave you decide.",
            command=command,
        ),
        gettext("`{command} help` shows this help.", command=command),
        gettext(
            "Your approver gets a message to approve or decline, and I'll tell you what they "
            "decide."
        ),
        contact_line(contact),
    )
    return "\n".join(lines)


def contact_line(contact: str) -> str:
    """Whom to ask, and where to send feedback, in mrkdwn; ``contact`` may be ""."""
    if not contact:
        return gettext("Questions or feedback? Ask an admin of your organisation.")
    address = text.escaped(contact)
    link = f"<mailto:{address}|{address}>" if support_contact.is_email(contact) else f"<{address}>"
    return gettext("Questions or feedback? Write to {contact}.", contact=link)


def unknown_command(command: str) -> str:
    """The response to a command that is in the manifest but not in the settings, in mrkdwn."""
    shown = text.escaped(text.cut(command, _MAX_COMMAND))
    return gettext(
        "Hiatus isn't set up for `{command}`. The people who run Hiatus can set the command "
        "in `HIATUS_SLACK_COMMAND`.",
        command=shown,
    )
