"""The words of a refusal: what is wrong, where, what is expected, and which fixes are likely."""
