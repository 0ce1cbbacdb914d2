"""Transcripts of the examples: a scripted model sends the calls that real models get wrong."""
