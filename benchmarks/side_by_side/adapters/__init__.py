"""One program for each contender: it runs in an environment of its own and answers the suite's lines."""
