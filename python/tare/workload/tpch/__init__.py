"""TPC-H: its tables, data and 22 queries."""
