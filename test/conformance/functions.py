"""Elementary functions in higher precision than any dtype of the language, and exact fused
multiply-add.
"""

from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np

from formats import FORMATS, VALUES, long, roundTo

PI = Decimal(
    "3.1415926535897932384626433832795028841971693993751058209749445923078164062862"
    "0899862803482534211706798214808651"
)


def decimals(function):
    """A function of one finite float64 through decimals of 80 digits."""

    def apply(x):
        getcontext().prec = 80
        flat = [function(float(v)) for v in np.asarray(x, np.float64).ravel()]
        return np.array(
            [long(str(v)) if isinstance(v, Decimal) else long(v) for v in flat], long
        ).reshape(np.shape(x))

    return apply


@decimals
def erf(x):
    if np.isnan(x) or abs(x) > 6.5:
        return x if np.isnan(x) else float(np.sign(x))
    if abs(x) < 1e-30:
        return Decimal(x) * 2 / PI.sqrt() if x else x
    d, total, term, n = Decimal(x), Decimal(0), Decimal(x), 0
    while abs(term) > Decimal(10) ** -60 * abs(d):
        total += term / (2 * n + 1)
        n += 1
        term *= -d * d / n
    return 2 * total / PI.sqrt()


def reduced(x):
    """x less the nearest multiple of pi/2, and that multiple's number modulo 4."""
    getcontext().prec = 400
    pi = Decimal(PI_DIGITS)
    d = Decimal(x)
    quadrant = (d * 2 / pi).to_integral_value()
    return d - quadrant * pi / 2, int(quadrant) % 4


def series(x, isSine):
    getcontext().prec = 60
    x = +x
    term, total, n = (x if isSine else Decimal(1)), Decimal(0), (1 if isSine else 0)
    while abs(term) > Decimal(10) ** -55 * (abs(x) if isSine else 1) and n < 200:
        total += term
        term *= -x * x / ((n + 1) * (n + 2))
        n += 2
    return total


def trig(which):
    @decimals
    def apply(x):
        if not np.isfinite(x):
            return np.nan
        if x == 0:
            return 1.0 if which == "cos" else x
        rest, quadrant = reduced(x)
        if which == "tan":
            s, c = series(rest, True), series(rest, False)
            return s / c if quadrant % 2 == 0 else -c / s
        sine = (quadrant % 2 == 0) == (which == "sin")
        value = series(rest, sine) if sine or rest else Decimal(1)
        negative = quadrant in ((2, 3) if which == "sin" else (1, 2))
        return -value if negative else value

    return apply


def machinPi(digits):
    """pi by Machin's formula, in integers."""
    one = 10 ** (digits + 10)

    def arctan(inverse):
        term = one // inverse
        total, n, sign = term, 3, -1
        while term:
            term //= inverse * inverse
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total

    value = 4 * (4 * arctan(5) - arctan(239)) // 10**10
    return f"3.{str(value)[1:]}"


PI_DIGITS = machinPi(390)
sin, cos, tan = trig("sin"), trig("cos"), trig("tan")


def longFunction(name):
    def apply(*x):
        with np.errstate(all="ignore"):
            return getattr(np, name)(*(np.asarray(v).astype(long) for v in x))

    return apply


def sigmoid(x):
    with np.errstate(all="ignore"):
        return 1 / (1 + np.exp(-np.asarray(x).astype(long)))


def rsqrt(x):
    with np.errstate(all="ignore"):
        return 1 / np.sqrt(np.asarray(x).astype(long))


def power(x, y):
    """As C's pow: x ** y with the exceptions of Annex F, which NumPy takes from C too."""
    with np.errstate(all="ignore"):
        return np.power(np.asarray(x).astype(long), np.asarray(y).astype(long))


def fma(dtype):
    """a * b + c rounded once, in exact rational arithmetic."""
    digits, least, largest = FORMATS[dtype]

    def nearest(value):
        if value == 0:
            return 0.0
        exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
        if abs(value) < Fraction(2) ** exponent:
            exponent -= 1
        step = Fraction(2) ** (max(exponent, least) - digits + 1)
        rounded = round(value / step) * step  # ties to even
        return (
            float(np.copysign(np.inf, float(value > 0) - 0.5))
            if abs(rounded) > largest
            else (float(rounded) if rounded else (0.0 if value > 0 else -0.0))
        )

    def apply(a, b, c):
        result = np.empty(a.shape, np.float64)
        for i, (x, y, z) in enumerate(
            zip(a.astype(np.float64), b.astype(np.float64), c.astype(np.float64))
        ):
            with np.errstate(all="ignore"):
                plain = (
                    x * y + z
                    if not (np.isfinite(x) and np.isfinite(y)) or not np.isfinite(z)
                    else None
                )
            if plain is not None:
                result[i] = z if np.isfinite(x) and np.isfinite(y) else plain
                continue
            exact = Fraction(x) * Fraction(y) + Fraction(z)
            if exact == 0:  # the zeros' signs as in IEEE: both negative, or +0
                negative = (x == 0 or y == 0) and np.signbit(x) != np.signbit(y) and np.signbit(z)
                result[i] = -0.0 if negative else 0.0
            else:
                result[i] = nearest(exact)
        return result.astype(VALUES[dtype])

    return apply
