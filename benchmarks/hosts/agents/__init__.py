"""Agent frameworks as hosts: run the code of the documentation with a scripted model and a server."""
