"""Prints how many operations a matrix product with an epilogue becomes, for square tiles of each
size given.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "e2e"))
from cpu_kernel_text import kernel, load, store

for size in map(int, sys.argv[1:]):
    tile = f"tensor<{size}x{size}xf32>"
    views = "\n".join(
        f"%v{n} = tile.view %{n} [%N, %N] strides [%N, %c1] : !tile.ptr<f32> -> !tile.view<?x?xf32>"
        for n in "abc"
    )
    text = kernel(
        "product",
        {"a": "*f32", "b": "*f32", "c": "*f32"},
        ["N"],
        ("", "%N, %N"),
        f"""
{views}
%pad = arith.constant 0.0 : f32
%size = arith.constant {size} : index
%m = tile.program_id 0
%n = tile.program_id 1
%zero = arith.constant dense<0.0> : {tile}
%acc = scf.for %k = %c0 to %N step %size iter_args(%s = %zero) -> {tile} {{
  %x = {load("%va", "%m, %k", [size, size], "f32")}
  %y = {load("%vb", "%k, %n", [size, size], "f32")}
  %d = tile.dot %x, %y, %s precision full : {tile}, {tile}, {tile}
  scf.yield %d : {tile}
}}
%r = math.exp %acc : {tile}
%w = tile.reduce max %r axis 1 : {tile} -> tensor<{size}xf32>
%u = tile.reshape %w : tensor<{size}xf32> -> tensor<{size}x1xf32>
%v = tile.broadcast %u : tensor<{size}x1xf32> -> {tile}
%q = arith.divf %r, %v : {tile}
{store("%q", "%vc", "%m, %n", [size, size], "f32")}
""",
        read=("a", "b"),
    )
    result = subprocess.run(
        ["tile-opt", "--tile-cpu-pipeline"], input=text, capture_output=True, text=True, check=True
    )
    print("operations:", result.stdout.count("llvm."))
