"""Generated from the contract of the service."""
