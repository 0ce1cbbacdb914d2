"""JSON values, texts and names; knows no schema."""
