"""Report of `tare os`: a database's demands on its operating system."""
