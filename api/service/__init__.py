"""The outermost layer of the API: the Starlette application with every route, and its process.

``app`` composes the routes, ``server`` runs uvicorn, ``scheduler`` runs background work, and
``process`` stops the process in time. Only ``serve.py`` imports from here.
"""
