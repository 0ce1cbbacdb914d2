"""Logs, metrics and traces of calls; knows no server framework."""
