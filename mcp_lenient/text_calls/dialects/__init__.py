"""How model families write calls natively, a file each; facts from their chat templates and published parsers."""
