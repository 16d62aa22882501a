# Made by `npm run generate` from the module that awaits.
"""Clients for code that blocks."""
