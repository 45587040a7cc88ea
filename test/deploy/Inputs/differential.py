"""Random launches, right and wrong, by generated C and by the runtime library: codes, messages and
what reaches the driver agree.

differential.py KERNEL.so PREFIX BINARY [CALLS]: the C as a shared object, its module's name, and
the same kernels as a binary with a manifest beside it.
"""

import ctypes
import json
import os
import random
import sys

import fake_cuda

DTYPES = [
    "bool",
    "i8",
    "i16",
    "i32",
    "i64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "bf16",
    "f32",
    "f64",
    "f8e4m3",
    "f8e5m2",
    "i4",
    "u4",
]
BYTES = [1, 1, 2, 4, 8, 1, 2, 4, 8, 2, 2, 4, 8, 1, 1, 0.5, 0.5]


def evaluate(expr, values):
    """An expression of the manifest; what it does not cover does not matter: the call is then
    wrong.
    """
    if isinstance(expr, (int, float)):
        return int(expr)
    if isinstance(expr, str):
        return values.setdefault(expr, 16)
    x, y = ([evaluate(e, values) for e in expr[1:]] + [0])[:2]
    return {
        "+": lambda: x + y,
        "-": lambda: x - y,
        "*": lambda: x * y,
        "/": lambda: x // y if y else 0,
        "%": lambda: x % y if y else x,
        "cdiv": lambda: -(-x // y) if y else 0,
        "min": lambda: min(x, y),
        "max": lambda: max(x, y),
    }.get(expr[0], lambda: 1)()


def arguments(kernel, rng):
    """An array of tile_argument: as declared, then with some mistakes. Also returned: what must
    stay alive.
    """
    values = {}
    for dim in kernel["dims"]:
        step = dim.get("multiple_of", 1)
        values[dim["name"]] = rng.choice([0, 1, 16, 64, 128, 192, 256, 1000, 4096]) // step * step
        if rng.random() < 0.9:
            values[dim["name"]] = max(values[dim["name"]], dim.get("min", 0), step)
    array = (fake_cuda.Argument * max(len(kernel["params"]), 1))()
    keep, address = [], 0x10000
    for argument, param in zip(array, kernel["params"]):
        argument.dtype = DTYPES.index(param["dtype"])
        if param["kind"] == "scalar":
            argument.kind = 2 if "default" in param and rng.random() < 0.3 else 1
            argument.bits = rng.choice([0, 1, 5, 64, 0x3F800000, 0x3E000000, rng.getrandbits(64)])
            continue
        shape = [max(min(evaluate(dim, values), 2**40), -1) for dim in param["dims"]]
        strides, dense = [0] * len(shape), 1
        declared = param.get("strides") or ["*"] * len(shape)
        for axis in reversed(range(len(shape))):
            fixed = declared[axis]
            strides[axis] = dense if fixed == "*" or rng.random() < 0.1 else evaluate(fixed, values)
            if param.get("strides") and rng.random() < 0.2 and strides[axis] > 1:
                strides[axis] += rng.choice([2, 8, 16, 64])
            dense = max(dense * shape[axis], strides[axis] * shape[axis])
        if rng.random() < 0.12 and shape:
            axis = rng.randrange(len(shape))
            shape[axis] = rng.choice([0, 1, -1, shape[axis] + 1, shape[axis] * 2, 2**33])
        if rng.random() < 0.08 and shape:
            strides[rng.randrange(len(shape))] = rng.choice([0, -1, 1, 3, 2**62])
        argument.rank = len(shape)
        argument.shape = (ctypes.c_int64 * max(len(shape), 1))(*shape)
        given = (ctypes.c_int64 * max(len(shape), 1))(*strides)
        if param.get("strides") or rng.random() < 0.3:
            argument.strides = given
        keep += [argument.shape, given]
        size = int(max(dense, 1) * max(BYTES[argument.dtype], 1))
        argument.data = address
        address += (size + 4096) // 256 * 256
        if rng.random() < 0.06:
            argument.data = rng.choice([0, 0x10000, 0x10004, 0x10001, 0x10100, argument.data + 8])
        if rng.random() < 0.1:
            argument.bytes = rng.choice([size, size // 2, 1])
        if rng.random() < 0.03:
            argument.dtype = rng.choice([0, 9, 10, 11, 99])
        if rng.random() < 0.02:
            argument.rank = rng.choice([0, 1, 2])
        if rng.random() < 0.01:
            argument.kind = 1
        if rng.random() < 0.01:
            argument.shape = None
    return array, keep


def main():
    path, prefix, binary = sys.argv[1:4]
    calls = int(sys.argv[4]) if len(sys.argv) > 4 else 3000
    with open(binary + ".json", encoding="utf-8") as stream:
        manifest = json.load(stream)
    fake = fake_cuda.load()
    generated = ctypes.CDLL(path)
    message = getattr(generated, prefix + "_message")
    message.restype = ctypes.c_char_p
    runtime = ctypes.CDLL(os.environ["TILE_RUNTIME_LIB"])
    for name in ("tile_module_load", "tile_module_kernel", "tile_kernel_launch"):
        getattr(runtime, name).restype = ctypes.c_void_p
    runtime.tile_error_message.restype = ctypes.c_char_p
    module = ctypes.c_void_p()
    assert not runtime.tile_module_load(binary.encode(), ctypes.byref(module))

    rng = random.Random(1)
    seen, wrong, launched, compared = {}, 0, 0, 0
    for number in range(calls):
        kernel = rng.choice(manifest["kernels"])
        handle = ctypes.c_void_p()
        assert not runtime.tile_module_kernel(module, kernel["name"].encode(), ctypes.byref(handle))
        array, keep = arguments(kernel, rng)
        count = (
            len(kernel["params"])
            if rng.random() < 0.97
            else rng.randrange(len(kernel["params"]) + 2)
        )
        count = min(count, len(array))
        flags = (rng.random() < 0.1) + 2 * (rng.random() < 0.2)
        stream = rng.choice([0, 0x77])
        results = []
        for side in range(2):
            fake_cuda.reset(fake, manifest)
            fake.argumentCount = len([a for a in kernel["arguments"]])
            # This device's, managed, the host's, another device's; the rest is not known to the
            # driver.
            for i, (begin, end, kind, managed, device) in enumerate(
                [
                    (0, 0x100000, 2, 0, 0),
                    (0x100000, 0x180000, 2, 1, 1),
                    (0x180000, 0x200000, 1, 0, 0),
                    (0x200000, 0x400000, 2, 0, 1),
                ]
            ):
                fake.memory[i] = fake_cuda.Memory(begin, end, kind, managed, device)
            if side:
                error = runtime.tile_kernel_launch(
                    handle, array, ctypes.c_size_t(count), ctypes.c_void_p(stream), flags
                )
                code = runtime.tile_error_code(ctypes.c_void_p(error)) if error else 0
                text = runtime.tile_error_message(ctypes.c_void_p(error)).decode() if error else ""
                runtime.tile_error_free(ctypes.c_void_p(error))
            else:
                call = getattr(generated, kernel["name"] + "_call")
                code = call(
                    array, ctypes.c_size_t(count), ctypes.c_void_p(stream), ctypes.c_uint32(flags)
                )
                text = message().decode() if code else ""
            results.append((code, text, fake_cuda.record(fake)))
        (code, text, ours), (expected, expectedText, theirs) = results
        # Encoded maps differ by their number alone: the library keeps those of before.
        for place, argument in enumerate(kernel["arguments"]):
            if ("tensor_map" in argument or "scratch" in argument) and place < 16:
                ours["arguments"][place] = theirs["arguments"][place] = 0
        # Where both encode all of a launch's, they encode the same; the address of an empty tensor
        # is each one's own.
        maps = len(kernel.get("tensor_maps", []))
        if maps and ours["encodings"] == theirs["encodings"] == maps:
            for one, other in zip(ours["map"], theirs["map"]):
                if 1 in other["extents"][: other["rank"]]:
                    one["address"] = other["address"] = 0
            compared += 1
        else:
            ours["map"] = theirs["map"] = None
        for side in (ours, theirs):
            side.pop("encodings")
            side["memset"] = (
                side["memset"][: side["memsets"]]
                if not kernel["launch"].get("scratch_bytes")
                else []
            )
            if kernel["launch"].get("scratch_bytes"):
                side.pop("memsets")
        if code == expected == 7 and text.startswith(kernel["name"] + ": cannot describe"):
            text = expectedText
        if (code, text, ours) != (expected, expectedText, theirs):
            wrong += 1
            if wrong < 6:
                print(
                    f"call {number} of {kernel['symbol']}:\n  C       {code} {text}\n  runtime"
                    f" {expected} {expectedText}"
                )
                print(
                    "  "
                    + "\n  ".join(
                        f"{k}: {ours[k]} {theirs[k]}" for k in ours if ours[k] != theirs[k]
                    )
                )
        seen[code] = seen.get(code, 0) + 1
        launched += ours["launches"]
    print(
        f"{calls} calls, {launched} launches, {compared} with maps compared, {wrong} differences,"
        f" codes {sorted(seen)}"
    )
    mapped = any(kernel.get("tensor_maps") for kernel in manifest["kernels"])
    return 1 if wrong or not launched or (mapped and not compared) else 0


if __name__ == "__main__":
    sys.exit(main())
