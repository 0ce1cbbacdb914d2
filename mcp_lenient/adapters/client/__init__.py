"""Client-side leniency: a session that repairs what it sends, and a dispatcher for a model's calls."""
