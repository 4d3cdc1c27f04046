"""The command line of Unisono."""

# The only place where it stands: cmake/Version.cmake and pyproject.toml read it from here.
__version__ = "0.2.0"
