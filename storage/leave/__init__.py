"""Leave requests from request to decision, with their types, previews and balances.

``leave_requests`` and ``decisions`` change requests with ``request_steps``. ``drafts`` checks what
may be requested, and ``previews`` shows it before. ``leave_rows`` says which requests a caller may
see, and ``leave_lists`` lists them. ``leave_changes`` changes approved leave,
``leave_amendments`` has what awaits a decision then. ``leave_balances`` reads what balances depend
on, and ``ledgers`` explains them line by line.
"""
