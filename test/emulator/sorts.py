"""Sorts whose rounds are straight code and a loop, along rows and columns of many extents, with 1
to 16 warps, upwards and downwards, of numbers alone and with positions. Beside NumPy to the bit.

usage: sorts.py TILEC FOLDER
"""

import os
import sys

import numpy as np
import runs

TILEC, FOLDER = sys.argv[1:]
os.makedirs(FOLDER, exist_ok=True)
SHAPES = [
    (2,),
    (100,),
    (256,),
    (1000,),
    (4096,),
    (4, 700),
    (8, 1024),
    (2, 2048),
    (9, 512),
    (1024, 8),
]


def write(shape, warps):
    extents, every = ", ".join(map(str, shape)), ", ".join(":" for _ in shape)
    path = os.path.join(FOLDER, f"sorts_{'x'.join(map(str, shape))}_{warps}.tile")
    results, stores = "", ""
    for axis in range(len(shape)):
        numbers = f"iota({shape[axis]}) as i32"
        if len(shape) == 2:
            numbers += "[None, :]" if axis else "[:, None]"
            numbers = numbers.replace("iota", "(iota").replace(" as i32", " as i32)")
            numbers = f"broadcast({numbers}, [{extents}])"
        for down in ("false", "true"):
            name = f"{axis}{down[0]}"
            results += f",\n    y{name}: out i32[{extents}], p{name}: out i32[{extents}]"
            results += f", s{name}: out i16[{extents}]"
            stores += (
                f"  let (v{name}, i{name}) = "
                f"sort((x, {numbers}), axis: {axis}, descending: {down});\n"
                f"  y{name}[{every}] = v{name};\n  p{name}[{every}] = i{name};\n"
                f"  s{name}[{every}] = sort(x as i16, axis: {axis}, descending: {down});\n"
            )
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(
            f"kernel sorts(t: in i32[{extents}]{results})\n"
            f"  with warps({warps})\n{{\n  let x = t[{every}];\n{stores}}}\n"
        )
    return path


rng, checked = np.random.default_rng(11), 0
for number, shape in enumerate(SHAPES):
    for warps in (1, 4, 16) if number % 2 else (2, 8):
        path = write(shape, warps)
        x = rng.integers(-99, 99, shape).astype(np.int32)
        np.save(path + ".npy", x)
        target = ("sm_80", "sm_90a")[checked // 3 % 2]
        names = [f"{axis}{down}" for axis in range(len(shape)) for down in "ft"]
        outputs = {f"{k}{name}": f"{path}.{k}{name}.npy" for name in names for k in "yps"}
        runs.run(TILEC, path, target, {"t": f"{path}.npy"}, outputs)
        for name in names:
            axis, down = int(name[0]), name[1] == "t"
            places = np.argsort(-x if down else x, axis, kind="stable")
            wanted = np.take_along_axis(x, places, axis)
            for kind, right in (("y", wanted), ("p", places), ("s", wanted)):
                found = np.load(f"{path}.{kind}{name}.npy")
                at = np.argwhere(found != right)[:4]
                assert not len(at), (
                    f"{kind} along {axis} of {shape}, {warps} warps, {target}",
                    [(tuple(j), found[tuple(j)], right[tuple(j)]) for j in at],
                )
                checked += 1
print(f"{checked} sorts right")
