"""The wallchart: people × days, with the leave that the viewer may see.

``wallchart`` reads it as ``chart_values``, ``chart_days`` puts leave on the people's days, and
``type_letters`` gives each leave type its letter. What a private type shows is decided in
``storage.access.absences``.
"""
