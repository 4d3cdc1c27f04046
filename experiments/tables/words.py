"""What the tables call things."""

from unisono.core.catalogue import format_size

LIBRARIES = {"mpich": "MPICH", "openmpi": "Open MPI", "intel": "Intel MPI"}


def size_text(size: int) -> str:
    """8 B, 32 KiB, 1 MiB"""
    text = format_size(size)
    return f"{text[:-1]} {text[-1]}iB" if text[-1].isalpha() else f"{text} B"
