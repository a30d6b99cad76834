"""REST and iCal feeds over storage's use cases, and the delivery of webhooks.

Only ``serve.py`` imports from here: ``api.service.app`` for the routes, ``api.base.settings`` for what the
environment says about them. Nothing in here knows of Slack.
"""
