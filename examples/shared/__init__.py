"""Shared by all examples: the agent loop, the models that drive it, and the transcript."""
