"""REST, calendar feeds and documentation over storage's use cases; delivery of webhooks.

``serve.py`` takes ``service.app`` for the routes and ``base.settings`` for the environment. Each
package imports those after it: service, routes, documentation, feeds and webhooks, schemas, http,
base. Nothing in here knows Slack.
"""
