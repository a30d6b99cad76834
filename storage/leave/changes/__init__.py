"""Changes of approved leave: at once, or as an amendment that an approver decides on.

``approved_leave`` plans and applies a change. ``amendment_steps`` requests and withdraws
amendments, and ``amendment_decisions`` approves and declines them. Which effect a change has is a
rule, ``storage.rules.changed_leave``. ``released_cover`` clears a cover who was archived.
"""
