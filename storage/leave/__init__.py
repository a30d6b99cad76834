"""Leave requests from request to decision, with their types, previews and balances.

``leave_requests`` and ``decisions`` change requests with ``request_steps``. ``drafts`` checks what
may be requested, and ``previews`` shows it before. ``leave_rows`` says which requests a caller may
see, and ``leave_lists`` lists them. ``changes`` changes approved leave, ``amendments`` has what
awaits a decision then. ``balances`` and ``ledgers`` have what remains of the allowance.
"""
