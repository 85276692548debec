"""The statements of the benchmark's queries, by class; both generations are made of these."""
