"""Reports of trends."""
