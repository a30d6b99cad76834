"""The OpenAPI document, the errors page and Swagger UI, made from the operations themselves.

``openapi`` composes the document from the ``schemas`` of the models, the webhooks of ``events``
and the guide. ``error_codes`` explains every code, and ``documentation`` serves the pages.
"""
