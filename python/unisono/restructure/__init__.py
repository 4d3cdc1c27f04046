"""`unisono restructure`: collectives in the loops of a C program become persistent ones."""
