"""Demands of a database on its operating system: calls, page cache, disk and sockets, by node and role."""
