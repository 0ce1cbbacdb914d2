"""The native call formats of model families, a file each, from their chat templates and published parsers."""
