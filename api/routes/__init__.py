"""One module for each resource: its handlers, then the table of its operations.

Only ``api.service.app`` imports from here, and only those tables; a handler reads the request, calls one
use case of storage and answers.
"""
