"""What happened to calls, for logs, metrics and traces; knows no server framework."""
