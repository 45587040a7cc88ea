"""Accesses of a tensor of more than 2^32 elements on the CPU: plain, gathered, scattered, atomic.
The memory is reserved address space, of which only what is touched becomes real.
"""

import ctypes
import mmap
import os
import subprocess
import sys
import tempfile

import numpy as np

RESERVE_NOTHING = 0x4000  # MAP_NORESERVE of Linux, which Python names from 3.13 on
ROWS, COLUMNS = 70001, 65537
SOURCE = """
kernel far(x: inout u8[M, N], row: in i64[8], column: in i32[8], y: out u8[3, 8]) where N % 8 == 1 {
  let r = row[at(0, 8)];
  let c = column[at(0, 8)];
  y[0, :] = gather(x[r, c]);
  y[1, :] = x[M - 1, at(N - 5, 8)];
  scatter(x[r, c], 7, mask: c % 2 == 0);
  x[M - 2, at(3, 8)] = 9;
  y[2, :] = atomic_xchg(x[r, c], 5);
}
"""


def main():
    memory = mmap.mmap(
        -1, ROWS * COLUMNS, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | RESERVE_NOTHING
    )
    x = np.frombuffer(memory, np.uint8).reshape(ROWS, COLUMNS)
    row = np.array([0, 70000, 70001, 69999, -1, 35000, 70000, 1], np.int64)
    column = np.array([0, 65536, 3, 2, 4, 65535, 0, 65537], np.int32)
    inside = (row >= 0) & (row < ROWS) & (column < COLUMNS)
    before = np.arange(1, 9, dtype=np.uint8)
    x[row[inside], column[inside]] = before[inside]
    x[-1, -5:] = [21, 22, 23, 24, before[1]]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "far")
        with open(path + ".tile", "w") as file:
            file.write(SOURCE)
        subprocess.run(["tilec", path + ".tile", "--target", "cpu", "-o", path + ".o"], check=True)
        subprocess.run(["clang", "-shared", path + ".o", "-o", path + ".so", "-lm"], check=True)
        kernel = ctypes.CDLL(path + ".so").far
    y = np.full((3, 8), 99, np.uint8)
    cells = [np.array(a.ctypes.data, np.int64) for a in (x, row, column, y)] + [
        np.array(ROWS, np.int64),
        np.array(COLUMNS, np.int64),
    ]
    kernel(
        (ctypes.c_void_p * 6)(*[cell.ctypes.data for cell in cells]),
        ctypes.c_int64(0),
        ctypes.c_int64(1),
    )

    expected = np.zeros((3, 8), np.uint8)
    expected[0] = np.where(inside, before, 0)
    expected[1, :5] = [21, 22, 23, 24, before[1]]
    expected[2] = np.where(inside, np.where(column % 2 == 0, 7, before), 0)
    if not (y == expected).all():
        sys.exit(f"expected\n{expected}\nfound\n{y}")
    if not (x[row[inside], column[inside]] == 5).all() or not (x[-2, 3:11] == 9).all():
        sys.exit("what was written is not there")
    print("positions of 64 bits: ok")


main()
