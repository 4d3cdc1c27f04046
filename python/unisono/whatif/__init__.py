"""`unisono whatif`: the calls of a trace, replayed in the simulator at another scale."""
