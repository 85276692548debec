"""Reports of traces of the operating system."""
