"""Changes by admins: people, departments, public holidays, the organisation.

Such a change affects existing leave: ``recalculation`` counts its days, ``reassignment`` notifies
other approvers, ``offboarding`` ends a person's leave. Dry runs return all of it as ``effects``.
"""
