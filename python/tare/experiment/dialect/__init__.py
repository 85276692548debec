"""How the experiment's tables are made, one file a DBMS."""

from tare.experiment.dialect.base import Dialect
from tare.experiment.dialect.registry import dialect_of

__all__ = ["Dialect", "dialect_of"]
