"""Coverage-guided fuzzing of the code that reads untrusted data; see ``docs/how-to/attack.md``."""
