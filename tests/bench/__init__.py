"""The benchmark: Hiatus compared with bare Starlette routes in the same run (``make bench``)."""
