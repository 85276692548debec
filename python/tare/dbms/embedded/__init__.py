"""Engines that are libraries, in a host process each: the query process is never the measuring one."""
