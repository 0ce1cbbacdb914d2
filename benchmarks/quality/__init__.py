"""How many calls come out as meant, and how long are the refusals?"""
