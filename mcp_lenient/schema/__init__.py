"""Read JSON Schemas; knows no rules."""
