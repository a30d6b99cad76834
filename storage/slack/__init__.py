"""Slack workspaces: installations, linked accounts, events that arrived, and the data of Home.

``join_policy`` says who becomes a member. Nothing in here calls Slack; ``bot`` does.
"""
