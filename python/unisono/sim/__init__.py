"""`unisono sim`: algorithms and whole programs on simulated networks, with SimGrid's SMPI."""
