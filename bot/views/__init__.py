"""Functions from values to Block Kit: forms, messages and their fallback texts.

``bot.listeners`` and the modules that send messages import from here. Nothing in here reads a
database, a clock or the network.
"""
