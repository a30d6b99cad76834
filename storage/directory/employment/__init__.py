"""What a person's records mean in their organisation: working days, public holidays, allowance.

The rules of records without an organisation are in ``storage/rules/employment``.
"""
