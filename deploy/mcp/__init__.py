"""The MCP server: a user's memories as tools, over standard input and output or over HTTP.

It has no store of its own and opens none: each tool is a request to the gateway's HTTP API, so that
whatever holds there (rules, limits, pauses, records of what was served) holds here.
"""
