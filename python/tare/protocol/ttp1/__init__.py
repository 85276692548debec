"""TTPv1, the Tucson Timing Protocol version 1 (ACM SIGMOD 2013): iowait shared out by a regression."""
