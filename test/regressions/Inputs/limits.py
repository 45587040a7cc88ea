"""Sources that reach each limit of docs/language/Launch.md, L4: prints the first error of each and
its first note.
"""

import subprocess

RANGE = ", ".join(str(i) for i in range(1, 1001))


def kernel(statics="", params="x: in f32[N], y: out f32[N]", clauses="", body="y[0] = x[0];"):
    return f"kernel k{statics}({params}) {clauses} {{ {body} }}\n"


def loops(*counts):
    return (
        "".join(f"const for i{n} in 0..{count} {{ " for n, count in enumerate(counts))
        + "}" * len(counts)
        + " y[0] = x[0];"
    )


dtypes = ", ".join(f"T{i}: dtype in {{f16, f32, bf16, f64}}" for i in range(10))
CASES = {
    "nested": kernel(body=loops(4096, 4096, 4096)),
    "trips": kernel(body=loops(5000)),
    "blocks": kernel(body="const for k in blocks(80001, 16) { y[k] = x[k]; }"),
    "widest": kernel(
        body=(
            "const for i in 0 - 9223372036854775807..9223372036854775807 + 0 step 1 { } y[0] ="
            " x[0];"
        )
    ),
    "instances": kernel(
        f"[{dtypes}]",
        ", ".join(f"x{i}: in T{i}[N]" for i in range(10)) + ", y: out f32[N]",
        body="y[0] = 1.0;",
    ),
    "specialize": kernel(
        params="x: in f32[M, N], y: out f32[N]",
        clauses=f"specialize M in {{{RANGE}}}, N in {{{RANGE}}}",
        body="y[0] = x[0, 0];",
    ),
    "clauses": kernel(clauses=" ".join(f"specialize N in {{{i}}}" for i in range(10000))),
    "versions": kernel(
        "[T: dtype in {f16, f32, bf16, f64}]",
        "x: in T[N], y: out T[N]",
        f"specialize N in {{{', '.join(map(str, range(400)))}}}",
    ),
    "tune": kernel(
        "[A: int = 64, B: int = 1, C: int = 1]",
        clauses=f"tune {{ A in {{{RANGE}}}; B in {{{RANGE}}}; C in {{{RANGE}}}; }}",
        body="let n = block(0, A); y[n] = x[n] * (B as f32) + (C as f32);",
    ),
    "members": kernel("[A: int in {1}]", clauses="tune { A in 0..5000; }"),
    "parameters": kernel(
        params=", ".join(f"x{i}: in f32[N]" for i in range(599)) + ", y: out f32[N]",
        body="y[0] = x0[0];",
    ),
    "arrays": kernel(
        params=", ".join(f"x{i}: in f32[N] * 64" for i in range(9)) + ", y: out f32[N] * 64",
        body="y[0][0] = x0[0][0];",
    ),
    "tokens": kernel(body="y[0] = x[0];" * 27000),
    "exits": kernel(clauses="grid (i: N)", body="if x[i] > 1.0 { return; } " * 250 + "y[i] = 0.0;"),
    "most exits": kernel(
        clauses="grid (i: N)", body="if x[i] > 1.0 { return; } " * 200 + "y[i] = 0.0;"
    ),
    "contract": kernel(clauses="where " + " + ".join(["N"] * 58) + " < 1000000"),
    "grid": kernel(clauses="grid (i: " + " + ".join(["N"] * 58) + ")"),
    "set": kernel(
        params="x: in f32[N], y: out f32[N], a: i32",
        clauses="where a + 1 in {" + ", ".join(f"{i} + N" + " + N" * 60 for i in range(2)) + "}",
    ),
    "most operators": kernel(clauses="where " + " + ".join(["N"] * 56) + " < 1000000"),
    "most parameters": kernel(
        params=", ".join(f"x{i}: in f32[N]" for i in range(511)) + ", y: out f32[N]",
        body="y[0] = x0[0];",
    ),
    "most trips": kernel(body=loops(15, 4096)),
    "brackets": kernel(body="y[0] = " + "(" * 201 + "x[0]" + ")" * 201 + ";"),
    "most brackets": kernel(body="y[0] = " + "(" * 150 + "x[0]" + ")" * 150 + ";"),
    "chain": kernel(body="y[0] = x[0]" + " + x[0]" * 1001 + ";"),
    "calls": (
        "fn f0(v) { return v; }\n"
        + "".join(f"fn f{i}(v) {{ return f{i - 1}(v); }}\n" for i in range(1, 102))
        + kernel(body="y[0] = f101(x[0]);")
    ),
    "inlined": (
        "fn f(v) { return v; }\n" + kernel(body="const for i in 0..4000 { y[0] = f(f(f(x[0]))); }")
    ),
    "imports": 'import "i0.tile";\n' + kernel(),
    "bytes": "//" + "x" * (4 << 20) + "\n" + kernel(),
    "errors": kernel(body="".join(f"y[{i}] = nothing{i}[0];" for i in range(20000))),
}

for i in range(102):
    with open(f"i{i}.tile", "w", encoding="utf-8") as file:
        file.write(f'import "i{i + 1}.tile";\n' if i < 101 else "fn g(v) { return v; }\n")
for name, text in CASES.items():
    with open("k.tile", "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(
        ["tilec", "k.tile", "--emit=tile", "-o", "k.mlir", "--target", "cpu"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    lines = done.stderr.splitlines()
    first = next((i for i, line in enumerate(lines) if "error:" in line), None)
    if name == "errors":
        print(
            f"errors: {sum(': error:' in line for line in lines)} errors,"
            f" {'stopped' if any('there are more' in line for line in lines) else 'went on'}"
        )
    elif first is None:
        print(f"{name}: {'done' if done.returncode == 0 else done.stderr}")
    else:
        print(f"{name}: {lines[first][lines[first].index('error:') :]}")
        print(
            next((line.split("note: ")[1] for line in lines[first:] if "note: " in line), "no note")
        )
