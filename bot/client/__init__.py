"""Calls of Slack's Web API, for each workspace with its token."""
