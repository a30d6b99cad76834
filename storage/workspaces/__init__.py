"""Slack workspaces: installations, people's accounts, events that arrived, and the data of Home.

``join_policy`` says who becomes a member, ``slack_profiles`` keeps people in step with their
Slack profiles. Nothing in here calls Slack; ``bot`` does.
"""
