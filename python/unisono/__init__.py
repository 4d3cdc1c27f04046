"""The command line of Unisono."""

__version__ = "0.1.0"
