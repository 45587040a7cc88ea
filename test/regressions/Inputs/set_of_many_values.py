"""Writes k.tile, whose kernels name 1024 values each, and arrays of 99 and of 100 elements."""

import numpy as np

odd = ", ".join(str(i) for i in range(1, 2048, 2))
sums = ", ".join(f"{i} + 1" for i in range(1024))
body = "grid (i: cdiv(N, 64)) { let n = block(i, 64); y[n] = x[n] * 2.0; }"
with open("k.tile", "w", encoding="utf-8") as file:
    file.write(f"kernel doubled(x: in f32[N], y: out f32[N]) where N in {{{odd}}} {body}\n")
    file.write(
        f"kernel picked(x: in f32[N], y: out f32[N], a: i32) where a + 0 in {{{sums}}} {body}\n"
    )
np.save("x.npy", np.ones(99, np.float32))
np.save("even.npy", np.ones(100, np.float32))
