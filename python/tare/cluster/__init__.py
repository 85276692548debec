"""Clusters on one machine: engines whose nodes are network namespaces with a cgroup and a data directory each."""
