"""What a traced program would gain from which algorithms: `unisono advise`."""
