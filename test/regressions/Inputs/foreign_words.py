"""What people write who come from elsewhere, each with what the compiler has to say of it: a part
of its message, note or fix.
"""

import subprocess

HEAD = (
    "kernel k[B: int = 64](x: in f32[M, N], v: in f32[N], h: in f16[N], q: in i32[N], z: out"
    " f32[N], y: inout f32[M, N]) grid (i: M) {\n  let n = block(0, B);\n"
)

# In a kernel's body: statement -> hint.
BODY = {
    # Operators.
    "let h2 = i // 2;": "'//' begins a comment; '/' divides integers and rounds toward zero",
    "y[i, n // 2] = v[n];": "'//' begins a comment",
    "let a = x[i, n] ** 2.0;": "a power is written pow(x, y)",
    "if i > 0 and i < 3 { y[i, n] = v[n]; }": "'and' becomes '&&'",
    "let c = i > 0 or i < 3;": "'or' becomes '||'",
    "if not (i > 0) { y[i, n] = v[n]; }": "write !a; it binds tighter than a comparison",
    "if not i > 0 { y[i, n] = v[n]; }": "write !a; it binds tighter than a comparison",
    "let a = 1.0f;": "remove 'f'",
    "let a = 10UL;": "a number has no suffix",
    "let a = 1.0 if i > 0 else 2.0;": "where(condition, a, b) selects a value",
    "let a = (1.0 if i > 0 else 2.0);": "where(condition, a, b) selects a value",
    # Functions.
    "y[i, n] = maximum(v[n], 0.0);": "'maximum' becomes 'max'",
    "y[i, n] = minimum(v[n], 0.0);": "'minimum' becomes 'min'",
    "y[i, n] = clip(v[n], 0.0, 1.0);": "'clip' becomes 'clamp'",
    "y[i, n] = softmax(v[n]);": "std/norms.tile",
    "y[i, n] = relu(v[n]);": "write max(x, 0.0)",
    "let a = cat((v[n], v[n]), 0);": "write concat([a, b], axis: 0)",
    "let a = mma(x, x);": "'mma' becomes 'dot'",
    "let a = matmul(x, x);": "'matmul' becomes 'dot'",
    "let a = arange(0, 64);": "block(i, B)",
    "let p = program_id(0);": "name an axis",
    "let p = blockIdx.x * 4;": "name an axis",
    "let p = threadIdx.x;": "threads do not appear",
    "__syncthreads();": "statements take effect in order",
    "barrier();": "statements take effect in order",
    "let l = len(v);": "x.shape[0]",
    "let t = transpose(x);": "write x.T",
    "for j in range(0, 4) { y[i, j] = 0.0; }": "'range(0, 4)' becomes '0..4'",
    'printf("%d", i);': "which takes values without a format",
    "atomicAdd(y[i, 0], 1.0);": "'atomicAdd' becomes 'atomic_add'",
    "let a = True;": "'True' becomes 'true'",
    "let a = sum(x[i, n], 0);": "an axis is named",
    "let a = amax(v[n], 0);": "write max(x, axis: 1)",
    "let a = np.exp(v[n]);": "'np.exp' becomes 'exp'",
    "let a = np.maximum(v[n], 0.0);": "'np.maximum' becomes 'max'",
    "let a = tl.max(v[n], 0);": "goes along an axis",
    "let a = v[n].max(0);": "goes along an axis",
    "let a = associative_scan(v[n], 0, f);": "write scan(f, x, axis: 0)",
    "total = sum(v[n]);": "a name is declared by `let`",
    "let a = where((v[n] > 0.0) & (v[n] < 1.0), v[n], 0.0);": "'&' becomes '&&'",
    "let a = -v[n].to(f16);": "'v[n].to(f16)' becomes 'v[n] as f16'",
    "let a = x[i, n].to(f16)[None, :];": "becomes '(x[i, n] as f16)'",
    "let a = (float)i;": "'(float)i' becomes 'i as f32'",
    "let a = p->x;": "E0",
    "var s = 0.0; for (int j = 4; j >= 0; j--) { s += 1.0; }": "write `for i in 0..n { ... }`",
    # Dtypes.
    "let a = v[n] as float32;": "'float32' becomes 'f32'",
    "let a = v[n] as half;": "'half' becomes 'f16'",
    "let a = v[n] as bfloat16;": "'bfloat16' becomes 'bf16'",
    "let a = v[n] as float;": "dtypes say their width",
    "let a = v[n] as int;": "dtypes say their width",
    "let a = v[n] as double;": "'double' becomes 'f64'",
    "let a = v[n] as fp8;": "f8e4m3 or f8e5m2",
    "let a = v[n] as f8;": "f8e4m3 or f8e5m2",
    "var a: float32 = 0.0;": "'float32' becomes 'f32'",
    # Members.
    "y[i, n] = v[n].astype(f32);": "convert with `as`",
    "y[i, n] = h[n].to(f32);": "convert with `as`",
    "let a = v[n].f16;": "convert with `as`: x as f16",
    "let a = v[n].sum();": "'v[n].sum()' becomes 'sum(v[n])'",
    # Named arguments.
    'let a = dot(x[i, n], v[n], presicion: "tf32");': "'presicion' becomes 'precision'",
    "let a = sum(v[n], axs: 0);": "'axs' becomes 'axis'",
    "let a = sum(v[n], dim: 0);": "'dim' becomes 'axis'",
    "let a = sum(v[n], keepdims: true);": "'keepdims' becomes 'keep'",
    "let a = load(v[n], other: 0.0);": "'other' becomes 'pad'",
    # Statements.
    "if i > 0 { y[i, n] = v[n]; } elif i > 1 { y[i, n] = v[n]; }": "'elif' becomes 'else if'",
    "lett a = 1.0;": "'lett' becomes 'let'",
    "vra a = 1.0;": "'vra' becomes 'var'",
    "whlie i > 0 { }": "'whlie' becomes 'while'",
    "retrun y;": "'retrun' becomes 'return'",
    "int j = 0;": "a variable is declared by `let i = ...;`",
    "float s = 0.0;": "a variable is declared by `let i = ...;`",
    "for (int j = 0; j < 4; j++) { }": "becomes 'j in 0..4'",
    "if i > 0 { pass }": "a body without statements is `{ }`",
    "if i > 0: y[i, n] = v[n];": "bodies stand in braces",
    "def f(a) { }": "functions stand at the top of a file",
    "do { } while i > 0;": "tests before each trip",
    # Places.
    "let m = i * 64 + iota(64); y[i, m] = v[n];": "becomes 'block(i, 64)'",
    "let m = 3 + iota(64); y[i, m] = v[n];": "becomes 'at(3, 64)'",
    "let a = x[i*16 .. i*16+16, n];": "at(lo, 16)",
    "y[i, i*16 .. i*16+16] = v[n];": "at(lo, 16)",
    "var acc = 0; for j in 0..4 { acc = acc + sum(v[n]); } z[0] = acc;": "'0' becomes '0.0'",
    "var acc = 0; for j in 0..4 { acc += sum(v[n]); } z[0] = acc;": "'0' becomes '0.0'",
    "var s = 0.0; s += sum(h[n]);": "`sum(x as f32)`",
    "if i > 0 { let a = 1.0; y[i, n] = a; } y[i, n] = a;": "declare a `var` before the block",
    "var s = (0.0, 0.0);": "`var (a, b) = ...`",
}

# Whole files.
FILES = {
    "kernal k(x: out f32[N]) { x[0] = 1.0; }": "'kernal' becomes 'kernel'",
    "def f(x) { return x; }": "'def' becomes 'fn'",
    "fn f(...) { return 1; }": "take a tuple as one parameter",
    "fn f(a, *xs) { return 1; }": "take a tuple as one parameter",
    "kernel k(*xs: in f32[N]) { }": "an array of tensors of one type",
    "kernel k(y: out f32[N]) girid (i: N) { y[i] = 1.0; }": "'girid' becomes 'grid'",
    "kernel k(y: out f32[N]) grid (i: K) { y[i] = 1.0; }": "declare a scalar parameter `K: i64`",
    "kernel k(y: out f32[N]) with num_warps(4) { y[0] = 1.0; }": "'num_warps' becomes 'warps'",
    "kernel k(y: out float16[N]) { y[0] = 1.0; }": "'float16' becomes 'f16'",
    "fn f[K: int](x) { return x; } kernel k(y: out f32[N]) { y[0] = f(1.0); }": (
        "the compile-time parameter 'K' of 'f' has no value"
    ),
    "@jit\nkernel k(y: out f32[N]) { y[0] = 1.0; }": "there are no decorators",
    "import numpy as np;": "are built in: leave the import out",
    "__global__ void k(float *x) { }": "write `kernel name(",
}

# Fixes that compile would have to mean the same: of these there is none.
UNFIXED = [
    "let h2 = i // 2;",
    "if not (i > 0) { y[i, n] = v[n]; }",
    "let a = v[n] as int;",
    "let l = len(v);",
    "let c = not i > 0;",
]


def says(source):
    return subprocess.run(
        ["tilec", "-", "--emit=tile", "-o", "-"],
        input=source,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
    ).stderr


wrong = 0
cases = [(HEAD + "  " + text + "\n}\n", text, hint) for text, hint in BODY.items()] + [
    (text, text, hint) for text, hint in FILES.items()
]
for source, text, hint in cases:
    found = says(source)
    if hint not in found:
        wrong += 1
        print(f"{text}\n  lacks: {hint}\n{found}")
for text in UNFIXED:
    found = says(HEAD + "  " + text + "\n}\n")
    if "fix:" in found or "error:" not in found:
        wrong += 1
        print(f"{text}\n  must not have a fix\n{found}")
print(f"{len(cases) + len(UNFIXED)} hints, {wrong} wrong")
