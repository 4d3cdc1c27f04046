"""`unisono compare`: native, Unisono and the limit side by side."""
