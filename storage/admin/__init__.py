"""What admins change: people, departments, public holidays, the organisation, imports.

Such a change affects leave that exists: ``recount`` counts its days again, ``rerouting`` gives
requests to other approvers, ``leaving`` ends a person's leave, ``effects`` says so in a dry run.
"""
