"""A Slack on 127.0.0.1: the Web API with its limits, and people who use an app.

The playground and the tests share it. Nothing in here connects to Slack, and its state is in memory
only.
"""
