"""A lab of invented runs that looks like the one TTPv2 was tried on: four DBMSes, 36 runs, about ten active
processes a QE, and violations at about the rates of its Tables XI, XII and XIII.

Nothing in it was measured. It serves to see how analyses scale, and that engines agree. The same arguments
give the same lab, row for row. Raw readings are not invented: `reading` and `audit` are empty.
"""

from benchmarks.synthetic.chunks import QATCS, chunks
from benchmarks.synthetic.writing import write_lab, write_parquet

__all__ = ["QATCS", "chunks", "write_lab", "write_parquet"]
