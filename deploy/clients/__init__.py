"""Client code for applications: tools that hand a model its memory over the HTTP API.

It stands here, in the one package that may import everything, since it is wired to a running
gateway, and imports nothing of memledger beyond :mod:`deploy.clients`: what it needs beside the
standard library is httpx and, for one module, the SDK of the extra ``anthropic``. An application
that keeps an environment of its own may copy the directory.
"""
