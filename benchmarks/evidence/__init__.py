"""Why can the figures be believed?"""
