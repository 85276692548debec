"""Transactional workloads: what the driver is asked, what it tells, and what is made of that."""
