"""Reports of tuning runs."""
