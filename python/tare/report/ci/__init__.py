"""Results in the formats that continuous integration reads."""
