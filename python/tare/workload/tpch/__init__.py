"""TPC-H: its tables, its data and its 22 queries."""
