"""Clusters of a DBMS on one machine: each node with a network namespace, a cgroup and a disk of its own."""
