"""Profiles: what was tuned for a machine, an MPI library and a number of ranks."""
