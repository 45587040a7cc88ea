"""The gated delta rule in float64: each kernel's part by chunks, checked against the rule step by
step, from whose run the later kernels' inputs are. Keys have length 1, as a layer's do.
"""

import functools

import numpy
from case import Case, Input, Output, ROUNDING, Scalar

PREPARE, STATES = "gated_delta_rule_prepare", "gated_delta_rule_states"
CASES = [
    Case("B=1 L=1 H=1 G=1", kernel=PREPARE, T="f16", D=64),
    Case("B=2 L=131 H=4 G=2", kernel=PREPARE, T="bf16", D=128),
    Case("B=1 L=97 H=3 G=1", kernel=PREPARE, T="f16", D=64, BT=32),
    Case("B=1 L=1 H=1 G=1", kernel=STATES, T="f16", D=64),
    Case("B=2 L=131 H=4 G=2", kernel=STATES, T="bf16", D=128),
    Case("B=1 L=197 H=3 G=3", kernel=STATES, T="f16", D=64, BV=64),
    Case("B=1 L=1 H=1 G=1", kernel="gated_delta_rule", T="f16", D=64),
    Case("B=2 L=131 H=4 G=2", kernel="gated_delta_rule", T="bf16", D=128),
    Case("B=1 L=97 H=3 G=1", kernel="gated_delta_rule", T="f16", D=64, BT=32, BV=32),
]


def steps(q, k, v, g, beta, start):
    """y before its scale and the last state, one step after another."""
    s, y = start, numpy.empty(v.shape)
    for t in range(k.shape[1]):
        s = s * numpy.exp(g[:, t])[..., None, None]
        change = (v[:, t] - numpy.einsum("bhd,bhdc->bhc", k[:, t], s)) * beta[:, t, :, None]
        s = s + k[:, t, :, :, None] * change[:, :, None]
        y[:, t] = numpy.einsum("bhd,bhdc->bhc", q[:, t], s)
    return y, s


def chunks(case, *tensors):
    """Tensors [B, L, H, ...] as [B, H, chunk, BT, ...], zeros behind the end."""
    size = int(case.definitions.get("BT", 64))
    count = -(-case.L // size)
    for x in tensors:
        x = numpy.repeat(x, case.H // x.shape[2], 2)
        full = numpy.zeros((case.B, count * size, *x.shape[2:]))
        full[:, : case.L] = x
        yield numpy.moveaxis(full, 2, 1).reshape(case.B, case.H, count, size, *x.shape[3:])


def together(case, x):
    """The inverse of `chunks`."""
    x = x.reshape(case.B, case.H, -1, *x.shape[4:])
    return numpy.moveaxis(x, 1, 2)[:, : case.L]


def decay(g):
    """exp(g[j + 1] + … + g[i]) for j <= i, else 0."""
    z = numpy.cumsum(g, 3)
    return numpy.exp(
        numpy.where(numpy.tri(g.shape[3]), z[..., :, None] - z[..., None, :], -numpy.inf)
    )


def prepare(case, k, v, g, beta):
    k, v, g, beta = chunks(case, k, v, g, beta)
    below = numpy.tril(k @ k.swapaxes(3, 4) * decay(g) * beta[..., None], -1)
    inverse = numpy.linalg.inv(numpy.eye(k.shape[3]) + below)
    w = inverse @ (k * (beta * numpy.exp(numpy.cumsum(g, 3)))[..., None])
    return {"w": together(case, w), "u": together(case, inverse @ (v * beta[..., None]))}


def run(case, k, w, u, g, start):
    k, w, u, g = chunks(case, k, w, u, g)
    s, states, change = start, [], numpy.empty(u.shape)
    for i in range(k.shape[2]):
        states.append(s)
        z = numpy.cumsum(g[:, :, i], 2)
        change[:, :, i] = u[:, :, i] - w[:, :, i] @ s
        left = change[:, :, i] * numpy.exp(z[..., -1:] - z)[..., None]
        s = s * numpy.exp(z[..., -1])[..., None, None] + k[:, :, i].swapaxes(2, 3) @ left
    return {"states": numpy.stack(states, 2), "change": together(case, change), "last": s}


def output(case, q, k, g, states, change):
    q, k, g, change = chunks(case, q, k, g, change)
    before = q @ states * numpy.exp(numpy.cumsum(g, 3))[..., None]
    return together(case, before + (q @ k.swapaxes(3, 4) * decay(g)) @ change)


@functools.lru_cache
def problem(case):
    """All tensors of one run, by name."""
    random, keys = case.random("problem"), (case.B, case.L, case.G, case.D)
    steady = random.random((case.B, case.L, case.H)) < 0.98
    it = {
        "q": random.standard_normal(keys),
        "k": random.standard_normal(keys),
        "v": random.standard_normal((case.B, case.L, case.H, case.D)),
        "g": -random.random((case.B, case.L, case.H)) * numpy.where(steady, 0.1, 10.0),
        "beta": random.random((case.B, case.L, case.H)),
        "start": random.standard_normal((case.B, case.H, case.D, case.D)),
    }
    it["k"] /= numpy.linalg.norm(it["k"], axis=3, keepdims=True)
    it.update(prepare(case, it["k"], it["v"], it["g"], it["beta"]))
    it.update(run(case, it["k"], it["w"], it["u"], it["g"], it["start"]))
    shared = [numpy.repeat(it[name], case.H // case.G, 2) for name in "qk"]
    y, last = steps(*shared, it["v"], it["g"], it["beta"], it["start"])
    by_chunks = output(case, it["q"], it["k"], it["g"], it["states"], it["change"])
    assert numpy.allclose(y, by_chunks) and numpy.allclose(last, it["last"])
    return it


def arguments(case):
    it, near = problem(case), 8.0 * ROUNDING[case.T]
    given = lambda name, T=case.T: Input(T, it[name].shape, lambda random, shape: it[name])
    made = lambda name, T=case.T: Output(T, it[name].shape, rtol=near, atol=near)
    if case.kernel == PREPARE:
        names = {name: given(name) for name in "kv"}
        gates = {name: given(name, "f32") for name in ("g", "beta")}
        return {**names, **gates, "w": made("w"), "u": made("u")}
    if case.kernel == STATES:
        return {
            **{name: given(name) for name in "kwu"},
            **{name: given(name, "f32") for name in ("g", "start")},
            "states": made("states"),
            "change": made("change"),
            "last": made("last", "f32"),
        }
    return {
        "q": given("q"),
        "k": given("k"),
        "g": given("g", "f32"),
        "states": given("states"),
        "change": given("change"),
        "y": Output(case.T, it["v"].shape, rtol=near, atol=near),
        "scale": Scalar("f32", case.D**-0.5),
    }


def reference(case, **inputs):
    if case.kernel == PREPARE:
        return prepare(case, **inputs)
    if case.kernel == STATES:
        return run(case, **inputs)
    scale = inputs.pop("scale")
    return {"y": output(case, **inputs) * scale}
