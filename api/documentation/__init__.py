"""The OpenAPI document, the errors page and Swagger UI, made from the operations themselves.

``openapi`` composes the document from the ``schemas`` of the models, ``guide`` has its text,
``error_codes`` explains every code, and ``documentation`` serves the pages.
"""
