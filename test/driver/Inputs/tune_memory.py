"""Prints a kernel with a candidate whose sorted tiles, all alive at once, take 690 MB."""

COUNT = 20
sorts = "".join(f"    let s{i} = sort(t * {i}.0, axis: 0);\n" for i in range(COUNT))
print(
    f"""
kernel twice[BLOCK: int = 1024, FAULT: string in {{"none", "memory"}} = "none"](
    x: in f32[N], y: out f32[N])
  where N in 1..=1048576 opt 65536
  grid (i: cdiv(N, 8))
  tune {{
    BLOCK in {{512, 1024}};
    FAULT in {{"none", "memory"}};
    where FAULT == "none" || BLOCK == 512;
  }}
{{
  let n = block(i, 8);
  var v = x[n] * 2.0;
  const if FAULT == "memory" {{
    let t = load(x[block(0, 1048576)], pad: nan) as f64;
{sorts}    v += (({" + ".join(f"s{i}[0]" for i in range(COUNT))}) as f32) * 0.0;
  }}
  y[n] = v;
}}"""
)
