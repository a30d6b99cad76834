"""The Slack app: what people see there, and what happens when they use it.

``serve.py`` takes ``service.app`` for the Bolt app and ``base.settings`` for the environment. Each
package imports those after it: service, listeners, messages, screens, interaction, views,
message_views, blocks, typed and client, base. Nothing in here knows REST.
"""
