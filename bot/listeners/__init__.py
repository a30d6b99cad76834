"""What Slack calls: one module for each command, shortcut, form and group of buttons.

Only ``bot.app`` imports from here, to register them; a listener acknowledges, calls one use case
of storage and shows the result.
"""
