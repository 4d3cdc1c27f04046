"""What a user can cause."""


class UnisonoError(Exception):
    """One line: what is wrong and what to do."""
