#!/usr/bin/env python3
"""Fits the polynomials of ExpandMathCoefficients.h: minimax (Remez exchange) in multiple precision.

Needs mpmath. Run it and redirect its output to ExpandMathCoefficients.h; stderr shows each fit's
error. Coefficients are rounded from the lowest up, and those above are fitted again, so that
rounding costs little.
"""

import struct
import sys

from mpmath import mp, mpf

mp.prec = 240


def roundTo(value, bits):
    """The nearest number of `bits` significant bits (no range limits: every coefficient is in
    range).
    """
    if value == 0:
        return mpf(0)
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def remez(target, weight, low, high, powers):
    """Coefficients c of sum c_i x^powers[i] that minimise max |weight * (sum - target)| over [low,
    high].
    """
    count = len(powers) + 1
    grid = [
        low + (high - low) * (1 - mp.cos(mp.pi * (i + mpf(1) / 3) / 400)) / 2 for i in range(400)
    ]
    sample = [(x, target(x), weight(x)) for x in grid]
    nodes = [400 * (2 * i + 1) // (2 * count) for i in range(count)]
    best = None
    for _ in range(12):
        rows = [
            [sample[n][0] ** p for p in powers] + [(-1) ** i / sample[n][2]]
            for i, n in enumerate(nodes)
        ]
        solution = mp.lu_solve(mp.matrix(rows), mp.matrix([sample[n][1] for n in nodes]))
        coefficients = [solution[i] for i in range(len(powers))]
        error = [
            w * (sum(c * x**p for c, p in zip(coefficients, powers)) - t) for x, t, w in sample
        ]
        worst = max(abs(e) for e in error)
        if best is None or worst < best[1]:
            best = (coefficients, worst)
        # One extremum for each run of equal sign; keep the `count` consecutive ones with the
        # largest errors.
        extrema = []
        for i, e in enumerate(error):
            if extrema and (e > 0) == (error[extrema[-1]] > 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = i
            else:
                extrema.append(i)
        while len(extrema) > count:
            extrema.pop(0 if abs(error[extrema[0]]) < abs(error[extrema[-1]]) else -1)
        if len(extrema) < count or extrema == nodes:
            break
        nodes = extrema
    return best


def fit(name, what, bits, target, weight, low, high, degree, even=False):
    """Prints array `name`, coefficients lowest first. `even`: the approximation is to be evaluated
    in x squared.
    """
    low, high = mpf(low), mpf(high)
    powers = list(range(degree + 1))
    fixed = []
    worst = mpf(0)
    while powers:
        rest = lambda x: target(x) - sum(c * x**p for p, c in enumerate(fixed))
        coefficients, worst = remez(rest, weight, low, high, powers)
        # Of long polynomials all coefficients are rounded at once: the exchange does not converge
        # on what is left.
        keep = 1 if degree < 20 else len(powers)
        fixed += [roundTo(c, bits) for c in coefficients[:keep]]
        powers = powers[keep:]
    print(
        f"{name}: degree {degree}, weighted error"
        f" 2^{float(mp.log(max(worst, mpf(2) ** -200), 2)):.1f}",
        file=sys.stderr,
    )
    print(f"/// {what}\nconstexpr double {name}[] = {{")
    for c in fixed:
        value = float(c)
        print(f"    {value.hex()},  // {value:.6g}")
    print("};\n")


def split(name, what, value, bits, parts):
    """Prints array `name`: parts[i] bits each of the value, largest first, the last rounded to
    `bits`.
    """
    print(f"/// {what}\nconstexpr double {name}[] = {{")
    for part in parts:
        piece = roundTo(value, part)
        value -= piece
        print(f"    {float(piece).hex()},")
    print("};\n")


def cosOf(z):
    return mp.cos(mp.sqrt(z))


def sinOf(z):
    return mp.sin(mp.sqrt(z)) / mp.sqrt(z)


def erfOf(z):
    return mp.erf(mp.sqrt(z)) / mp.sqrt(z)


def tanhOf(z):
    return mp.tanh(mp.sqrt(z)) / mp.sqrt(z)


def atanhOf(z):
    s = mp.sqrt(z)
    return mp.log((1 + s) / (1 - s)) / s


def family(
    suffix, bits, expDegree, logFit, sinDegree, cosDegree, erfSplit, erfDegree, erfcHigh, erfcDegree
):
    half = mp.log(2) / 2 * mpf("1.003")
    fit(
        "expTail" + suffix,
        "exp(r) = 1 + r + r^2 P(r) on |r| <= log(2)/2",
        bits,
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: r**2 / abs(mp.expm1(r)),
        -half,
        half,
        expDegree,
    )
    if logFit[0] == "direct":
        fit(
            "logTail" + suffix,
            "log(1+f) = f - f^2/2 + f^3 P(f) on sqrt(1/2) <= 1+f <= sqrt(2)",
            bits,
            lambda f: (mp.log1p(f) - f + f**2 / 2) / f**3,
            lambda f: abs(f**3 / mp.log1p(f)),
            mp.sqrt(mpf(1) / 2) - 1,
            mp.sqrt(2) - 1,
            logFit[1],
        )
    else:
        fit(
            "logTail" + suffix,
            "log((1+s)/(1-s)) = 2s + s z P(z), z = s^2, |s| <= (sqrt(2)-1)^2",
            bits,
            lambda z: (atanhOf(z) - 2) / z,
            lambda z: z / 2,
            mpf(10) ** -12,
            (mp.sqrt(2) - 1) ** 4 * mpf("1.001"),
            logFit[1],
        )
    top = (mp.pi / 4 * mpf("1.002")) ** 2
    fit(
        "sinTail" + suffix,
        "sin(r) = r + r^3 P(r^2) on |r| <= pi/4",
        bits,
        lambda z: (sinOf(z) - 1) / z,
        lambda z: z / sinOf(z),
        mpf(10) ** -12,
        top,
        sinDegree,
    )
    fit(
        "cosTail" + suffix,
        "cos(r) = 1 - r^2/2 + r^4 P(r^2) on |r| <= pi/4",
        bits,
        lambda z: (cosOf(z) - 1 + z / 2) / z**2,
        lambda z: z**2 / cosOf(z),
        mpf(10) ** -12,
        top,
        cosDegree,
    )
    fit(
        "erfTail" + suffix,
        f"erf(x) = x + x P(x^2) on |x| <= {erfSplit}",
        bits,
        lambda z: erfOf(z) - 1,
        lambda z: 1 / erfOf(z),
        mpf(10) ** -12,
        mpf(erfSplit) ** 2,
        erfDegree,
    )
    center = mpf("2.5")
    fit(
        "erfcLog" + suffix,
        f"-log(erfc(t + 2.5)) = P(t) on {erfSplit} <= t + 2.5 <= {erfcHigh}",
        bits,
        lambda t: -mp.log(mp.erfc(t + center)),
        lambda t: mp.erfc(t + center),
        mpf(erfSplit) - center,
        mpf(erfcHigh) - center,
        erfcDegree,
    )


def main():
    print(
        "// Coefficients for ExpandMath*.cpp, written by FitMathPolynomials.py: do not edit. Lowest"
        " degree first."
    )
    print(
        "#ifndef TILE_PASSES_CONVERT_EXPANDMATHCOEFFICIENTS_H\n#define"
        " TILE_PASSES_CONVERT_EXPANDMATHCOEFFICIENTS_H\n"
    )
    print("#include <cstdint>\n\nnamespace tile::math {\n")
    family("32", 24, 5, ("direct", 8), 2, 2, "0.92", 6, "4.0", 9)
    family("64", 53, 10, ("atanh", 7), 5, 5, "1.0", 15, "6.0", 20)
    fit(
        "powTail64",
        "log((1+s)/(1-s)) = 2s + s z (2/3 + z P(z)), z = s^2",
        53,
        lambda z: ((atanhOf(z) - 2) / z - mpf(2) / 3) / z,
        lambda z: z * z / 2,
        mpf(10) ** -10,
        (mp.sqrt(2) - 1) ** 4 * mpf("1.001"),
        7,
    )
    fit(
        "erfByTanh32",
        "erf(x) = tanh(x P(x^2)) on |x| <= 3",
        24,
        lambda z: mp.atanh(mp.erf(mp.sqrt(z))) / mp.sqrt(z),
        lambda z: mp.sqrt(z) * (1 - mp.erf(mp.sqrt(z)) ** 2) / mp.erf(mp.sqrt(z)),
        mpf(10) ** -12,
        9,
        2,
    )
    fit(
        "tanhTail32",
        "tanh(x) = x + x^3 P(x^2) on |x| <= 0.6",
        24,
        lambda z: (tanhOf(z) - 1) / z,
        lambda z: z / tanhOf(z),
        mpf(10) ** -12,
        mpf("0.6") ** 2,
        4,
    )
    log2 = mp.log(2)
    split(
        "log2Parts32", "log(2); the first part times a 9-bit integer is exact", log2, 24, [15, 24]
    )
    split(
        "log2Parts64", "log(2); the first part times a 12-bit integer is exact", log2, 53, [41, 53]
    )
    split("log2eParts32", "1/log(2) as a sum of two f32", 1 / log2, 24, [24, 24])
    split("log2eParts64", "1/log(2) as a sum of two f64", 1 / log2, 53, [53, 53])
    split("halfPiParts32", "pi/2 as a sum of f32", mp.pi / 2, 24, [24, 24, 24, 24])
    split("halfPiParts64", "pi/2 as a sum of f64", mp.pi / 2, 53, [53, 53, 53])
    split("twoThirdsParts64", "2/3 as a sum of two f64", mpf(2) / 3, 53, [53, 53])
    mp.prec = 1500
    digits = int(mp.floor(mp.ldexp(2 / mp.pi, 64 * 20)))
    print(
        "/// 2/pi in binary, after the point, most significant word first\nconstexpr uint64_t"
        " twoOverPi[] = {"
    )
    for i in range(20):
        print(f"    0x{(digits >> (64 * (19 - i))) & (2**64 - 1):016x},")
    print("};\n")
    print("}  // namespace tile::math\n\n#endif")


main()
