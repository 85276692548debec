"""Comparisons whose unit is the block: sessions or windows that hold every arm once."""
