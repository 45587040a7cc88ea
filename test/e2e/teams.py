"""Products by two teams of consumers on an emulated GPU, against NumPy. Arguments: tilec, the
folder of examples."""

import os
import subprocess
import sys
import tempfile

import numpy as np

TILEC, EXAMPLES = sys.argv[1:3]
SOURCE = os.path.join(EXAMPLES, "matmul_nt", "matmul_nt.tile")
# Rows, columns, K; the tile; blocks of a cluster; multiprocessors: one block has 0, 1, 2, 3 or more
# programs.
CASES = (
    (256, 352, 320, 128, 176, 1, 1),
    (300, 528, 64, 128, 176, 1, 2),
    (200, 176, 136, 128, 176, 1, 5),
    (250, 264, 72, 144, 128, 1, 3),
    (256, 360, 200, 128, 144, 2, 2),
)
random = np.random.default_rng(0)
failed = 0
for m, n, k, rows, columns, cluster, processors in CASES:
    a = random.standard_normal((m, k)).astype(np.float16)
    b = random.standard_normal((n, k)).astype(np.float16)
    config = f"BM={rows},BN={columns},BK=64,SPLIT=1,warps=4,cluster={cluster}"
    with tempfile.TemporaryDirectory(prefix="tile-teams-") as folder:
        line = [TILEC, "run", SOURCE, "--device", "cuda", "-D", "T=f16", "--config", config]
        for name, value in (("a", a), ("b", b), ("c", np.full((m, n), 9, np.float16))):
            path = os.path.join(folder, name + ".npy")
            np.save(path, value)
            line += ["--arg", f"{name}={path}"]
        result = os.path.join(folder, "result.npy")
        environment = {**os.environ, "TILE_EMULATE_PROCESSORS": str(processors)}
        subprocess.run(
            [*line, "--out", f"c={result}"], check=True, stdout=subprocess.DEVNULL, env=environment
        )
        found = np.load(result).astype(np.float32)
    wanted = a.astype(np.float32) @ b.astype(np.float32).T
    wrong = np.abs(found - wanted).max()
    if not wrong <= 2e-3 * np.abs(wanted).max():
        failed += 1
        print("FAIL", (m, n, k), config, "differs by", wrong)
print(f"{len(CASES)} products, {failed} failed")
