"""``/wallchart/{token}``: who is off in a month, as a web page, an SVG and a PNG.

``wallchart_endpoint`` serves it, ``wallchart_requests`` checks the query, ``chart`` decides what
each cell shows, ``rendering`` fills the templates, and ``rasteriser`` makes the PNG in a process of
its own. What the viewer may see is decided in ``storage.calendars.wallchart``.
"""
