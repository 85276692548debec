"""Arrow columns as numpy arrays, and what is loaded for that."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tare.arrow import flags, numbers, received, words

CHUNKS: Any = st.lists(st.lists(st.integers(-(2**62), 2**62), max_size=5), max_size=4)


@given(CHUNKS)
def test_numbers_are_those_of_all_chunks(chunks: list[list[int]]) -> None:
    column = pa.chunked_array(chunks, pa.int64())
    assert numbers(column).dtype == np.int64
    assert numbers(column).tolist() == [one for chunk in chunks for one in chunk]


@pytest.mark.parametrize("kind", [pa.uint32(), pa.uint64(), pa.int32(), pa.float64()])
def test_numbers_keep_their_type(kind: pa.DataType) -> None:
    column = pa.chunked_array([[1, 2], [3]], kind)
    assert numbers(column).dtype == kind.to_pandas_dtype()
    assert numbers(column[1:]).tolist() == [2, 3]


@given(
    st.lists(st.lists(st.one_of(st.none(), st.integers(0, 2**31 - 1)), max_size=12), max_size=4),
    st.integers(0, 3),
)
def test_nulls_are_replaced(chunks: list[list[int | None]], start: int) -> None:
    expected = [-1 if one is None else one for chunk in chunks for one in chunk]
    for kind in (pa.int64(), pa.uint32()):
        found = numbers(pa.chunked_array(chunks, kind)[start:], -1)
        assert found.dtype == np.int64
        assert found.tolist() == expected[start:]


@given(st.lists(st.lists(st.booleans(), max_size=20), max_size=4))
def test_flags_are_those_of_all_chunks(chunks: list[list[bool]]) -> None:
    column = pa.chunked_array(chunks, pa.bool_())
    assert flags(column).tolist() == [one for chunk in chunks for one in chunk]
    assert flags(column[1:]).tolist() == flags(column).tolist()[1:]


@given(st.lists(st.sampled_from(["valid", "cut off", ""]), max_size=20), st.booleans())
def test_words_are_read_from_either_coding(expected: list[str], is_coded: bool) -> None:
    plain = pa.array(expected, pa.string())
    column = pa.chunked_array([plain.dictionary_encode() if is_coded else plain])
    assert words(column[1:]).tolist() == expected[1:]


def test_a_table_is_received_whole() -> None:
    table = pa.table({"a": pa.chunked_array([[1], [2, 3]])})
    assert received(table) == table


PROGRAM = """
import struct
import sys
import pyarrow as pa
from tare.arrow import flags, numbers, received, words

def column(kind, *parts):  # pa.array loads pandas
    return pa.Array.from_buffers(kind, 2, [None, *map(pa.py_buffer, parts)])

table = received(pa.Table.from_arrays([
    column(pa.int64(), struct.pack("qq", 1, 2)),
    column(pa.bool_(), bytes([1])),
    column(pa.string(), struct.pack("iii", 0, 1, 2), b"ab"),
], names=["n", "f", "w"]))
assert numbers(table["n"]).tolist() == numbers(table["n"], 0).tolist() == [1, 2]
assert flags(table["f"]).tolist() == [True, False]
assert words(table["w"]).tolist() == ["a", "b"]
sys.exit("pandas" in sys.modules)
"""


def test_pandas_is_not_loaded() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], timeout=60, check=False)
    assert done.returncode == 0
