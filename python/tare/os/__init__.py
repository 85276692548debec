"""What a database asks of its operating system: system calls, page cache, disk and sockets, by node and role."""
