"""`/mcp`: the tools of assistants, over the Model Context Protocol.

``endpoint`` knows who asks, ``server`` describes the tools, ``tools`` has what each reads. The SDK
is imported with the first request: it needs 16 MB and half a second.
"""
