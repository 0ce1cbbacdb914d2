"""Programs that run a benchmark's own checker, each in the environment that the benchmark needs."""
