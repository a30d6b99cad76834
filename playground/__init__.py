"""Slack on this machine, for development: a page that plays three people at once.

``hiatus serve --demo`` serves it; a production process never imports it, and neither ``api``,
``bot`` nor ``storage`` does.
"""
