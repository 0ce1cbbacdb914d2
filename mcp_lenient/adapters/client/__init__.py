"""Lenience on the side of a client: a session that repairs what it sends, and a dispatcher of a model's calls."""
