"""The report of a transactional run, and of two held against each other."""
