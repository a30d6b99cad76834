"""The OpenAPI document, the errors page and Swagger UI, made from the operations themselves."""
