"""Structural causal models over the measures: held against the data, correlation by correlation."""
