"""How the benchmark's relations are stored, one file a DBMS."""

from tare.workload.wisconsin.layout.base import Layout
from tare.workload.wisconsin.layout.registry import layout_of
from tare.workload.wisconsin.layout.setting import Setting, setting_of

__all__ = ["Layout", "Setting", "layout_of", "setting_of"]
