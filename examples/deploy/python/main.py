"""Runs kernels of a package from Python: on NumPy's arrays on the CPU, or on PyTorch's tensors:
main.py PACKAGE [cpu | cuda].
"""

import sys

import tile_compiler as tile


def arrays(device, shape):
    """An input with known rows, and a function that makes an output."""
    if device == "cpu":
        import numpy

        x = (numpy.arange(shape[0] * shape[1], dtype="f4") % 101 / 101).reshape(shape)
        return x, lambda dtype, extents: numpy.zeros(extents, {"f32": "f4"}[dtype])
    import torch

    x = (torch.arange(shape[0] * shape[1], device="cuda", dtype=torch.float32) % 101 / 101).reshape(
        shape
    )
    return x, lambda dtype, extents: torch.zeros(
        extents, dtype={"f32": torch.float32}[dtype], device="cuda"
    )


def main():
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    kernel = tile.load(sys.argv[1], device=device)["row_mean"]
    x, make = arrays(device, (100, 1000))
    outputs = kernel.outputs(x)
    print(f"{kernel.name} on {device}: mean is {outputs['mean']}")
    mean = make(*outputs["mean"])
    kernel(x, mean)
    prepared, same = kernel.prepare(x, mean), make(*outputs["mean"])  # shapes are checked once
    prepared(x, same)
    assert (mean == same).all(), "the prepared call gave another result"
    if device == "cuda":  # the same in a CUDA graph: prepare, capture, replay
        import torch

        graph, again = torch.cuda.CUDAGraph(), torch.zeros_like(mean)
        with torch.cuda.graph(graph):
            kernel(x, again)
        graph.replay()
        torch.cuda.synchronize()
        assert torch.equal(mean, again)
    worst = float(abs(mean[:, 0] - x.mean(axis=1)).max())
    print("largest error", "below" if worst < 1e-5 else "ABOVE", "1e-5")
    try:
        kernel(x, mean[:50])
    except tile.Error as error:
        print("refused:", error)
    return 0 if worst < 1e-5 else 1


if __name__ == "__main__":
    sys.exit(main())
