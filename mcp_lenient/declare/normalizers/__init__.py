"""Declarations for parameters: ready-made normalizers, aliases, and any callable."""
