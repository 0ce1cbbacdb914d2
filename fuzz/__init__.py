"""Coverage-guided attacks on what reads strangers' data; see ``docs/how-to/attack.md``."""
