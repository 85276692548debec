"""From the times of call paths to the sources of variance: TProfiler's analysis (§3.2), and what we set beside it."""
