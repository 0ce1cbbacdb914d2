"""The cases whose answer is still wrong."""

OPEN = {
    "enums/number-for-text": "a number for an enum of texts is refused, though only one text is that number",
}
"""Cases that the engine does not answer as the laws say, each with what it does."""

OPEN_IN_FUNCTIONS = {
    "json_text/numbers-keep-spelling": "a function's parameter gets no number of JSON text as it was spelt",
}
"""Cases that are right by schema alone, and refused for a function."""
