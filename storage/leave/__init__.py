"""Leave requests from request to decision, with their types, previews and balances.

``leave_requests`` and ``decisions`` change requests with ``request_steps``. ``drafts`` checks what
may be requested, ``previews`` shows the total before that, ``balances`` and ``ledgers`` what
remains.
"""
