"""Slack workspaces: installations, people's accounts, events that arrived, and the data of Home.

``join_policy`` says who becomes a member, ``profile_sync`` keeps people in sync with their Slack
profiles. Nothing in here calls Slack; ``bot`` does.
"""
