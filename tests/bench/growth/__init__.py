"""Growth: what each operation costs in a large organisation, beside a small one.

Both are in one database, together with many small organisations.
"""
