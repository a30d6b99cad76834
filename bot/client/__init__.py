"""Calls to Slack's Web API, with the token of each workspace."""
