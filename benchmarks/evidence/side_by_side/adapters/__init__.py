"""One program for each contender, which runs in its own environment and answers the suite's requests."""
