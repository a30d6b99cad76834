"""Leave requests from request to decision, with their types, previews and balances.

``leave_requests`` has the life of a request, ``drafts`` what may be requested, ``previews`` what a
request would come to, ``balances`` and ``ledgers`` what remains.
"""
