#!/usr/bin/env python3
"""Writes tests/ops/table.txt: operations of PTX with inputs and results.

The results come from exact arithmetic on integers and fractions, rounded once where PTX says so, and share nothing with
the code that they test. A line is `operation | input types -> result type | operands after the inputs | cases`; a case is
`inputs -> result`, each number the bits in hexadecimal. Run it after a change here; the table is kept in the repository.
"""
import math
import random
from fractions import Fraction
from pathlib import Path

RNG = random.Random(20)
WIDTH = {t: int(t.lstrip("abcdefghijklmnopqrstuvwxyz").split("x")[0]) for t in "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64".split()}
WIDTH |= {"bf16": 16, "pred": 1}
FORMAT = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}


def mask(value, bits):
    return value & ((1 << bits) - 1)


def signed(value, bits):
    value = mask(value, bits)
    return value - (1 << bits) if value >> (bits - 1) else value


def number(value, ty):
    return signed(value, WIDTH[ty]) if ty[0] == "s" else mask(value, WIDTH[ty])


def saturate(value, ty):
    bits = WIDTH[ty]
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if ty[0] == "s" else (0, (1 << bits) - 1)
    return min(max(value, low), high)


# ---- floating point: a value is NaN (None), an infinity (+1 or -1 in a tuple), or (sign, exact fraction) ----

def decode(bits, ty):
    precision, low, _ = FORMAT[ty]
    width = WIDTH[ty]
    sign = bits >> (width - 1)
    fraction = mask(bits, precision - 1)
    exponent = mask(bits >> (precision - 1), width - precision)
    if exponent == (1 << (width - precision)) - 1:
        return None if fraction else ("inf", sign)
    scale = low if exponent == 0 else exponent + low - 1
    whole = fraction if exponent == 0 else fraction | 1 << (precision - 1)
    return (sign, Fraction(whole) * Fraction(2) ** (scale - precision + 1))


def nan(ty):
    return {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF, "f64": 0x7FF8000000000000}[ty]


def infinity(sign, ty):
    precision = FORMAT[ty][0]
    width = WIDTH[ty]
    return sign << (width - 1) | ((1 << (width - precision)) - 1) << (precision - 1)


def to_integer(exact, mode):
    """An exact number rounded to a whole one."""
    floor = exact.numerator // exact.denominator
    rest = exact - floor
    if mode == "rm" or rest == 0:
        return floor
    if mode == "rp":
        return floor + 1
    if mode == "rz":
        return floor if exact > 0 else floor + 1
    half = Fraction(1, 2)
    return floor + (rest > half or rest == half and floor % 2)


def encode(sign, magnitude, ty, mode="rn", ftz=False):
    """Rounds an exact magnitude once; the sign decides which way is up."""
    precision, low, high = FORMAT[ty]
    width = WIDTH[ty]
    top = sign << (width - 1)
    if magnitude == 0:
        return top
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if magnitude < Fraction(2) ** exponent:
        exponent -= 1
    away = {"rn": "rn", "rz": "rz", "rm": "rp" if sign else "rm", "rp": "rm" if sign else "rp"}[mode]
    # Results are flushed when they are below the smallest normal number, rounded as if there were no smallest exponent.
    full = to_integer(magnitude / Fraction(2) ** (exponent - precision + 1), away)
    tiny = exponent + (full == 1 << precision) < low
    exponent = max(exponent, low)
    unit = Fraction(2) ** (exponent - precision + 1)
    whole = to_integer(magnitude / unit, away)
    if whole == 1 << precision:
        whole >>= 1
        exponent += 1
    if exponent > high:
        down = mode == "rz" or mode == "rm" and not sign or mode == "rp" and sign
        return infinity(sign, ty) - 1 if down else infinity(sign, ty)
    if ftz and tiny:
        return top
    if whole < 1 << (precision - 1):
        return top | whole
    return top | (exponent - low + 1) << (precision - 1) | mask(whole, precision - 1)


def inputs_of(args, types, ftz):
    out = []
    for bits, ty in zip(args, types):
        value = decode(bits, ty)
        if ftz and value and value[0] != "inf":
            precision, low, _ = FORMAT[ty]
            if 0 < value[1] < Fraction(2) ** low:
                value = (value[0], Fraction(0))
        out.append(value)
    return out


def infinite(value):
    return value is not None and value[0] == "inf"


def exact(value):
    return -value[1] if value[0] else value[1]


def sum_of(terms, mode):
    """The sign and magnitude of an exact sum; a zero is negative where all terms are, or under rm."""
    total = sum(exact(t) for t in terms)
    if total == 0:
        same = len({t[0] for t in terms}) == 1
        sign = terms[0][0] if same else int(mode == "rm")
        return sign, Fraction(0)
    return int(total < 0), abs(total)


def result(sign, magnitude, ty, mode, ftz, sat):
    bits = encode(sign, magnitude, ty, mode, ftz)
    if not sat:
        return bits
    value = decode(bits, ty)
    if value is None:
        return 0
    one = encode(0, Fraction(1), ty)
    if infinite(value):
        return 0 if value[1] else one
    number = exact(value)
    return 0 if number <= 0 else one if number >= 1 else bits


def special(kind, sign, ty, sat):
    if kind == "nan":
        return 0 if sat else nan(ty)
    if sat:
        return 0 if sign else encode(0, Fraction(1), ty)
    return infinity(sign, ty)


def add(ty, mode="rn", ftz=False, sat=False, negate=False):
    def f(a, b):
        x, y = inputs_of((a, b), (ty, ty), ftz)
        if x is None or y is None:
            return special("nan", 0, ty, sat)
        if negate:
            y = ("inf", 1 - y[1]) if infinite(y) else (1 - y[0], y[1])
        if infinite(x) and infinite(y):
            return special("inf", x[1], ty, sat) if x[1] == y[1] else special("nan", 0, ty, sat)
        for v in (x, y):
            if infinite(v):
                return special("inf", v[1], ty, sat)
        return result(*sum_of((x, y), mode), ty, mode, ftz, sat)
    return f


def sign_of(value):
    return value[1] if infinite(value) else value[0]


def multiply(x, y):
    """The product as a value; None when it is NaN."""
    if x is None or y is None:
        return None
    sign = sign_of(x) ^ sign_of(y)
    if infinite(x) or infinite(y):
        other = y if infinite(x) else x
        return None if not infinite(other) and other[1] == 0 else ("inf", sign)
    return (sign, x[1] * y[1])


def mul(ty, mode="rn", ftz=False, sat=False):
    def f(a, b):
        product = multiply(*inputs_of((a, b), (ty, ty), ftz))
        if product is None:
            return special("nan", 0, ty, sat)
        if infinite(product):
            return special("inf", product[1], ty, sat)
        return result(*product, ty, mode, ftz, sat)
    return f


def fma(ty, mode="rn", ftz=False, sat=False):
    def f(a, b, c):
        x, y, z = inputs_of((a, b, c), (ty,) * 3, ftz)
        product = multiply(x, y)
        if product is None or z is None:
            return special("nan", 0, ty, sat)
        if infinite(product) and infinite(z):
            return special("inf" if product[1] == z[1] else "nan", z[1], ty, sat)
        for v in (product, z):
            if infinite(v):
                return special("inf", v[1], ty, sat)
        return result(*sum_of((product, z), mode), ty, mode, ftz, sat)
    return f


def div(ty, mode="rn", ftz=False):
    def f(a, b):
        x, y = inputs_of((a, b), (ty, ty), ftz)
        if x is None or y is None or infinite(x) and infinite(y):
            return nan(ty)
        sign = sign_of(x) ^ sign_of(y)
        if infinite(x):
            return infinity(sign, ty)
        if infinite(y):
            return encode(sign, Fraction(0), ty)
        if y[1] == 0:
            return nan(ty) if x[1] == 0 else infinity(sign, ty)
        return encode(sign, x[1] / y[1], ty, mode, ftz)
    return f


def sqrt(ty, mode="rn", ftz=False):
    def f(a):
        (x,) = inputs_of((a,), (ty,), ftz)
        if x is None:
            return nan(ty)
        if infinite(x):
            return nan(ty) if x[1] else infinity(0, ty)
        if x[1] == 0:
            return encode(x[0], Fraction(0), ty)
        if x[0]:
            return nan(ty)
        # Enough bits below the last place that a sticky one decides every rounding.
        shift = 2 * 700
        scaled = x[1] * (1 << shift)
        root = math.isqrt(scaled.numerator // scaled.denominator)
        rest = root * root != scaled
        return encode(0, Fraction(2 * root + rest, 2 << (shift // 2)), ty, mode, ftz)
    return f


def extreme(ty, biggest, nans=False, ftz=False):
    def f(a, b):
        x, y = inputs_of((a, b), (ty, ty), ftz)
        if x is None and y is None or nans and (x is None or y is None):
            return nan(ty)
        if x is None or y is None:
            value = y if x is None else x
            return infinity(value[1], ty) if infinite(value) else encode(*value, ty)
        key = lambda v: (-math.inf if v[1] else math.inf, 0) if infinite(v) else (exact(v), 1 - v[0])
        pick = (max if biggest else min)((x, y), key=key)
        return infinity(pick[1], ty) if infinite(pick) else encode(*pick, ty)
    return f


def compare(ty, word, ftz=False):
    unordered = word.endswith("u") and word not in ("lu",)
    base = word[:-1] if unordered else word
    tests = {"eq": lambda c: c == 0, "ne": lambda c: c != 0, "lt": lambda c: c < 0, "le": lambda c: c <= 0,
             "gt": lambda c: c > 0, "ge": lambda c: c >= 0}

    def f(a, b):
        x, y = inputs_of((a, b), (ty, ty), ftz)
        if word in ("num", "nan"):
            return int((x is None or y is None) == (word == "nan"))
        if x is None or y is None:
            return int(unordered)
        value = lambda v: (-math.inf if v[1] else math.inf) if infinite(v) else exact(v)
        p, q = value(x), value(y)
        return int(tests[base]((p > q) - (p < q)))
    return f


def to_int(source, target, mode, ftz=False):
    def f(a):
        (x,) = inputs_of((a,), (source,), ftz)
        bits = WIDTH[target]
        if x is None:
            # NaN becomes zero in 32 bits and less, and the most negative or largest pattern from f64 or to 64 bits.
            return 0 if bits < 64 and source != "f64" else 1 << (bits - 1)
        if infinite(x):
            return mask(saturate(-(1 << 80) if x[1] else 1 << 80, target), bits)
        return mask(saturate(to_integer(exact(x), mode), target), bits)
    return f


def from_int(source, target, mode):
    def f(a):
        value = number(a, source)
        return encode(int(value < 0), Fraction(abs(value)), target, mode)
    return f


def carried(bits, source, target):
    """A NaN in another format: its sign and the first bits of its payload, quiet."""
    width, fraction, kept = WIDTH[source], FORMAT[source][0] - 1, FORMAT[target][0] - 1
    payload = mask(bits, fraction) << kept >> fraction | 1 << kept - 1
    return infinity(bits >> width - 1, target) | payload


def between(source, target, mode="rn", ftz=False, sat=False):
    def f(a):
        (x,) = inputs_of((a,), (source,), ftz)
        if x is None and not sat and (source == "f64" or target == "f64" and not ftz):
            return carried(a, source, target)
        if x is None:
            return special("nan", 0, target, sat)
        if infinite(x):
            return special("inf", x[1], target, sat)
        return result(*x, target, mode, ftz, sat)
    return f


# ---- the table ----

CORNERS = {16: [0, 1, 2, 0x7F, 0xFF, 0x100, 0x7FFF, 0x8000, 0x8001, 0xFFFF],
           32: [0, 1, 2, 31, 32, 33, 0xFFFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFF],
           64: [0, 1, 2, 63, 64, 0xFFFFFFFF, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, (1 << 64) - 1]}
FLOATS = {
    "f16": [0, 0x8000, 1, 0x8001, 0x03FF, 0x0400, 0x3C00, 0xBC00, 0x3C01, 0x4200, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7E00],
    "bf16": [0, 0x8000, 1, 0x007F, 0x0080, 0x3F80, 0xBF80, 0x3F81, 0x4040, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80, 0x7FC0],
    "f32": [0, 0x80000000, 1, 0x80000001, 0x007FFFFF, 0x00800000, 0x3F800000, 0xBF800000, 0x3F800001, 0x3F000000,
            0x40490FDB, 0xC0490FDB, 0x4B7FFFFF, 0x4F000000, 0x5F000000, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000],
    "f64": [0, 1 << 63, 1, (1 << 52) - 1, 1 << 52, 0x3FF0000000000000, 0xBFF0000000000000, 0x3FF0000000000001,
            0x400921FB54442D18, 0x43E0000000000000, 0x41DFFFFFFFC00000, 0x7FEFFFFFFFFFFFFF, 0xFFEFFFFFFFFFFFFF,
            0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]}


def samples(ty):
    if ty == "pred":
        return RNG.randrange(2)
    bits = WIDTH[ty]
    if ty in FLOATS:
        kind = RNG.randrange(3)
        if kind == 0:
            return RNG.choice(FLOATS[ty])
        if kind == 1:
            return RNG.getrandbits(bits)
        # Near one, where sums and products round.
        precision = FORMAT[ty][0]
        exponent = -FORMAT[ty][1] + 1 + RNG.randrange(-6, 7)
        return RNG.randrange(2) << (bits - 1) | exponent << (precision - 1) | RNG.getrandbits(precision - 1)
    return RNG.choice(CORNERS[bits]) if RNG.randrange(2) else RNG.getrandbits(bits)


LINES = []


def row(operation, types, out, function, suffix="", cases=16, amounts=None):
    """One operation; `amounts` replaces the last input by small numbers, as for shifts."""
    seen = []
    for _ in range(cases):
        args = [samples(t) for t in types]
        if amounts is not None and RNG.randrange(3):
            args[-1] = RNG.randrange(amounts)
        if args not in seen:
            seen.append(args)
    shown = "; ".join(" ".join(f"{a:x}" for a in args) + f" -> {function(*args):x}" for args in seen)
    LINES.append(f"{operation} | {' '.join(types)} -> {out} | {suffix} | {shown}")


def integers():
    for ty in ("u16", "u32", "u64", "s16", "s32", "s64"):
        n, bits = (lambda v, t=ty: number(v, t)), WIDTH[ty]
        two = lambda f, n=n, bits=bits: lambda a, b: mask(f(n(a), n(b)), bits)
        row(f"add.{ty}", [ty] * 2, ty, two(lambda a, b: a + b))
        row(f"sub.{ty}", [ty] * 2, ty, two(lambda a, b: a - b))
        row(f"mul.lo.{ty}", [ty] * 2, ty, two(lambda a, b: a * b))
        row(f"mul.hi.{ty}", [ty] * 2, ty, two(lambda a, b, k=bits: a * b >> k))
        row(f"min.{ty}", [ty] * 2, ty, two(min))
        row(f"max.{ty}", [ty] * 2, ty, two(max))
        row(f"sad.{ty}", [ty] * 3, ty, lambda a, b, c, n=n, k=bits: mask(abs(n(a) - n(b)) + c, k))
        row(f"mad.lo.{ty}", [ty] * 3, ty, lambda a, b, c, n=n, k=bits: mask(n(a) * n(b) + c, k))
        row(f"mad.hi.{ty}", [ty] * 3, ty, lambda a, b, c, n=n, k=bits: mask((n(a) * n(b) >> k) + c, k))
        quotient = lambda a, b: -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        remainder = lambda a, b, q=quotient: -1 if b == 0 else a - b * q(a, b)
        row(f"div.{ty}", [ty] * 2, ty, two(quotient))
        row(f"rem.{ty}", [ty] * 2, ty, two(remainder))
        row(f"shr.{ty}", [ty, "u32"], ty, lambda a, b, n=n, k=bits: mask(n(a) >> min(b, 2 * k), k), amounts=bits + 3)
        for word, test in (("lt", lambda a, b: a < b), ("ge", lambda a, b: a >= b)):
            row(f"setp.{word}.{ty}", [ty] * 2, "pred", lambda a, b, n=n, t=test: int(t(n(a), n(b))))
    row("add.sat.s32", ["s32"] * 2, "s32", lambda a, b: mask(saturate(signed(a, 32) + signed(b, 32), "s32"), 32))
    row("sub.sat.s32", ["s32"] * 2, "s32", lambda a, b: mask(saturate(signed(a, 32) - signed(b, 32), "s32"), 32))
    for ty, wide in (("u16", "u32"), ("s16", "s32"), ("u32", "u64"), ("s32", "s64")):
        row(f"mul.wide.{ty}", [ty] * 2, wide, lambda a, b, t=ty, w=wide: mask(number(a, t) * number(b, t), WIDTH[w]))
        row(f"mad.wide.{ty}", [ty, ty, wide], wide, lambda a, b, c, t=ty, w=wide: mask(number(a, t) * number(b, t) + c, WIDTH[w]))
    for ty in ("s16", "s32", "s64"):
        k = WIDTH[ty]
        row(f"abs.{ty}", [ty], ty, lambda a, k=k: mask(abs(signed(a, k)), k))
        row(f"neg.{ty}", [ty], ty, lambda a, k=k: mask(-a, k))


def bits():
    for ty in ("b16", "b32", "b64"):
        k = WIDTH[ty]
        row(f"and.{ty}", [ty] * 2, ty, lambda a, b: a & b)
        row(f"or.{ty}", [ty] * 2, ty, lambda a, b: a | b)
        row(f"xor.{ty}", [ty] * 2, ty, lambda a, b: a ^ b)
        row(f"not.{ty}", [ty], ty, lambda a, k=k: mask(~a, k))
        row(f"cnot.{ty}", [ty], ty, lambda a: int(a == 0))
        row(f"shl.{ty}", [ty, "u32"], ty, lambda a, b, k=k: mask(a << min(b, 2 * k), k), amounts=k + 3)
        row(f"selp.{ty}", [ty, ty, "pred"], ty, lambda a, b, c: a if c else b)
    for ty in ("b32", "b64"):
        k = WIDTH[ty]
        row(f"popc.{ty}", [ty], "u32", lambda a: bin(a).count("1"))
        row(f"clz.{ty}", [ty], "u32", lambda a, k=k: k - a.bit_length())
        row(f"brev.{ty}", [ty], ty, lambda a, k=k: int(f"{a:0{k}b}"[::-1], 2))

        def insert(a, b, c, d, k=k):
            at, count = (c, d) if k == 64 else (c & 0xFF, d & 0xFF)
            field = mask(mask((1 << count) - 1, k) << at, k) if at < k else 0
            return b & ~field | mask(a << at, k) & field
        row(f"bfi.{ty}", [ty, ty, "u32", "u32"], ty, insert, amounts=k + 3)
    for ty in ("u32", "s32", "u64", "s64"):
        k = WIDTH[ty]

        def extract(a, b, c, t=ty, k=k):
            at, count = (b, c) if k == 64 else (b & 0xFF, c & 0xFF)
            last = min(at + count - 1, k - 1)
            fill = 0 if t[0] == "u" or count == 0 else (a >> last & 1)
            value = 0
            for i in range(k):
                bit = a >> (at + i) & 1 if i < count and at + i < k else fill
                value |= bit << i
            return value
        row(f"bfe.{ty}", [ty, "u32", "u32"], ty, extract, amounts=k + 3)

        def find(a, t=ty, k=k, amount=False):
            value = mask(~a, k) if t[0] == "s" and a >> (k - 1) else a
            if value == 0:
                return 0xFFFFFFFF
            return k - value.bit_length() if amount else value.bit_length() - 1
        row(f"bfind.{ty}", [ty], "u32", find)
        row(f"bfind.shiftamt.{ty}", [ty], "u32", lambda a, f=find: f(a, amount=True))
    for table in (0x96, 0xE8, 0x01, 0xCA):
        def lop(a, b, c, t=table):
            return sum((t >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | c >> i & 1) & 1) << i for i in range(32))
        row("lop3.b32", ["b32"] * 3, "b32", lop, suffix=hex(table))

    def permute(a, b, c):
        data = b << 32 | a
        value = 0
        for i in range(4):
            code = c >> (4 * i) & 0xF
            byte = data >> (8 * (code & 7)) & 0xFF
            value |= (0xFF * (byte >> 7) if code & 8 else byte) << (8 * i)
        return value
    row("prmt.b32", ["b32"] * 3, "b32", permute)
    for way in ("l", "r"):
        for rule in ("wrap", "clamp"):
            def funnel(a, b, c, way=way, rule=rule):
                n = c & 31 if rule == "wrap" else min(c, 32)
                whole = b << 32 | a
                return mask(whole << n >> 32, 32) if way == "l" else mask(whole >> n, 32)
            row(f"shf.{way}.{rule}.b32", ["b32", "b32", "u32"], "b32", funnel, amounts=36)

    def dot(a, b, c, sa, sb):
        byte = lambda v, i, s: signed(v >> 8 * i, 8) if s else v >> 8 * i & 0xFF
        return mask(c + sum(byte(a, i, sa) * byte(b, i, sb) for i in range(4)), 32)
    for sa, ta in ((0, "u32"), (1, "s32")):
        for sb, tb in ((0, "u32"), (1, "s32")):
            row(f"dp4a.{ta}.{tb}", ["u32"] * 3, "u32", lambda a, b, c, x=sa, y=sb: dot(a, b, c, x, y))


def conversions():
    whole = ("u16", "u32", "u64", "s16", "s32", "s64")
    for source in whole:
        for target in whole:
            if source != target:
                row(f"cvt.{target}.{source}", [source], target, lambda a, s=source, t=target: mask(number(a, s), WIDTH[t]), cases=8)
    for source, target in (("s64", "s32"), ("s64", "u32"), ("u64", "s32"), ("s32", "u16"), ("u32", "s16")):
        row(f"cvt.sat.{target}.{source}", [source], target,
            lambda a, s=source, t=target: mask(saturate(number(a, s), t), WIDTH[t]))
    for mode in ("rn", "rz", "rm", "rp"):
        for source in ("u32", "s32", "u64", "s64"):
            row(f"cvt.{mode}.f32.{source}", [source], "f32", from_int(source, "f32", mode))
        row(f"cvt.{mode}.f64.u64", ["u64"], "f64", from_int("u64", "f64", mode))
        row(f"cvt.{mode}i.s32.f32", ["f32"], "s32", to_int("f32", "s32", mode))
        row(f"cvt.{mode}i.u32.f32", ["f32"], "u32", to_int("f32", "u32", mode))
        row(f"cvt.{mode}.f32.f64", ["f64"], "f32", between("f64", "f32", mode))
    row("cvt.rzi.ftz.s32.f32", ["f32"], "s32", to_int("f32", "s32", "rz", True))
    row("cvt.f64.f32", ["f32"], "f64", between("f32", "f64"))
    row("cvt.rn.f16.f32", ["f32"], "f16", between("f32", "f16"))
    row("cvt.rz.f16.f32", ["f32"], "f16", between("f32", "f16", "rz"))
    row("cvt.f32.f16", ["f16"], "f32", between("f16", "f32"))
    row("cvt.rn.bf16.f32", ["f32"], "bf16", between("f32", "bf16"))
    row("cvt.rn.f16.s32", ["s32"], "f16", from_int("s32", "f16", "rn"))
    row("cvt.sat.f32.f32", ["f32"], "f32", between("f32", "f32", sat=True))


def floats():
    for mode in ("rn", "rz", "rm", "rp"):
        for ty in ("f32", "f64"):
            row(f"add.{mode}.{ty}", [ty] * 2, ty, add(ty, mode), cases=24)
            row(f"sub.{mode}.{ty}", [ty] * 2, ty, add(ty, mode, negate=True), cases=24)
            row(f"mul.{mode}.{ty}", [ty] * 2, ty, mul(ty, mode), cases=24)
            row(f"fma.{mode}.{ty}", [ty] * 3, ty, fma(ty, mode), cases=24)
            row(f"div.{mode}.{ty}", [ty] * 2, ty, div(ty, mode), cases=24)
            row(f"sqrt.{mode}.{ty}", [ty], ty, sqrt(ty, mode), cases=24)
    row("add.ftz.f32", ["f32"] * 2, "f32", add("f32", ftz=True), cases=24)
    row("add.sat.f32", ["f32"] * 2, "f32", add("f32", sat=True), cases=24)
    row("mul.ftz.f32", ["f32"] * 2, "f32", mul("f32", ftz=True), cases=24)
    row("fma.rn.ftz.sat.f32", ["f32"] * 3, "f32", fma("f32", ftz=True, sat=True), cases=24)
    row("div.rn.ftz.f32", ["f32"] * 2, "f32", div("f32", ftz=True), cases=24)
    for ty in ("f16", "bf16"):
        row(f"add.{ty}", [ty] * 2, ty, add(ty), cases=24)
        row(f"mul.{ty}", [ty] * 2, ty, mul(ty), cases=24)
        row(f"fma.rn.{ty}", [ty] * 3, ty, fma(ty), cases=24)
    for ty in ("f32", "f64", "f16"):
        row(f"min.{ty}", [ty] * 2, ty, extreme(ty, False), cases=24)
        row(f"max.{ty}", [ty] * 2, ty, extreme(ty, True), cases=24)
    row("min.NaN.f32", ["f32"] * 2, "f32", extreme("f32", False, True), cases=24)
    row("max.ftz.f32", ["f32"] * 2, "f32", extreme("f32", True, ftz=True), cases=24)
    for word in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        row(f"setp.{word}.f32", ["f32"] * 2, "pred", compare("f32", word), cases=24)
    for word in ("lt", "geu"):
        row(f"setp.{word}.f64", ["f64"] * 2, "pred", compare("f64", word), cases=24)
        row(f"setp.{word}.f16", ["f16"] * 2, "pred", compare("f16", word), cases=24)
    row("setp.eq.ftz.f32", ["f32"] * 2, "pred", compare("f32", "eq", True), cases=24)


integers()
bits()
conversions()
floats()
Path(__file__).with_name("table.txt").write_text("\n".join(LINES) + "\n")
print(f"{len(LINES)} operations")
