"""Tuning: a server's settings as arms of a load, each change put back whatever happens."""
