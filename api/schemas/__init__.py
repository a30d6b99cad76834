"""The shapes of requests and responses: bodies, query parameters and records.

A module of records has the TypedDicts of one subject and the functions that make them from values.
``storage.base.records`` has those that webhooks and operators' commands show in the same shape.
"""
