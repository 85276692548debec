"""Under which conditions runs were made, for every report that is made from a lab."""
