"""Tools for authors and operators: report, check, explain, demo."""
