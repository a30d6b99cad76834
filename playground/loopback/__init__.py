"""A Slack of our own on 127.0.0.1: the Web API with its limits, and people who use an app.

The playground and the tests share it; nothing in here speaks to Slack. What is not given from
outside is kept in memory and gone with the process.
"""
