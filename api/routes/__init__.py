"""One module for each resource: its handlers, then the table of its operations.

A handler reads the request, calls one use case of storage and returns the response. Only
``api.service.app`` imports from here, and only those tables.
"""
