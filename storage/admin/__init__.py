"""What admins change: people, departments, public holidays, the organisation.

Such a change affects leave that exists: ``recalculation`` counts its days again, ``reassignment``
gives requests to other approvers, ``offboarding`` ends a person's leave, ``effects`` says so in a
dry run.
"""
