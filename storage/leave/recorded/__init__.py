"""Leave that one person records for another.

``recording`` creates it, ``permissions`` says who may record what for whom, and ``objections``
tells others that the person disagrees. ``recordable_people`` finds people for menus.
"""
