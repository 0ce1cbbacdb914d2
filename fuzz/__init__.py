"""Coverage-guided fuzzing of the code that reads untrusted data; see ``fuzz/README.md``."""
