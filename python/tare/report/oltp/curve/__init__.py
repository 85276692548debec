"""Reports of latency over requested rate."""
