"""How much does it cost: in a call, in a proxy, in a report?"""
