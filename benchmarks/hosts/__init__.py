"""Is the outcome the same on every host?"""
