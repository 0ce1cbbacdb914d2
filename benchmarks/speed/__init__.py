"""How much does it cost: in a call, in a report, at a start?"""
