"""``/wallchart/{token}``: who is off in a month, as a web page, an SVG and a PNG.

``wallchart_endpoint`` serves it, ``wallchart_cache`` keeps what it rendered, ``wallchart_requests``
checks the query, ``cells`` decides what each cell shows, ``rendering`` fills the templates, and
``rasteriser`` makes the PNG in a process of its own, for which organisations take ``turns``.
What the viewer may see is decided in ``storage.access.wallcharts``.
"""
