"""Structural causal models over the measures: held against the data, correlation by correlation."""

from tare.protocol.model.holding import hold

__all__ = ["hold"]
