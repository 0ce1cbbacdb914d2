"""Agent frameworks as hosts: the code of the documentation, with a scripted model, between twelve calls and a server."""
