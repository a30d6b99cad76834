"""The shapes of requests and responses: bodies, query parameters and records.

``records`` and ``webhook_records`` have what only REST shows; ``storage.base.records`` has what
webhooks and operators' commands show in the same shape.
"""
