"""The Slack app: what people see there, and what happens when they use it.

Only ``serve.py`` imports from here: ``bot.service.app`` for the Bolt app, ``bot.base.settings`` for what the
environment says about it. Nothing in here knows of REST.
"""
