"""Leave that interrupts other leave, such as sick leave during annual leave.

``interrupting`` books it in place of the leave, which may be split. ``restoring`` gives its days
back when it is cancelled or shortened. ``parts`` cuts and joins leave, without the database, and
``offering`` says which leave a person can interrupt.
"""
