"""Proofs that a graft leaves its server whole. Each raises Harm with what it saw."""


class Harm(Exception):
    """The grafted server did what the server alone would not."""
