"""Clients for code that awaits."""
