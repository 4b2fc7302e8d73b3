#!/usr/bin/python3
"""make_tables.py - expected results for every pure operation of the language.

The tables are NOT produced by vyre. They are computed here, from docs/specification.md
alone, with Python integers and exact fractions; nothing in this file calls,
reads or was translated from the compiler.

  make_tables.py            write *.tbl next to this script
  make_tables.py --check    compute everything again in memory, compare with the
                            files; exit 1 and name the first difference if any
  (both first give every line a second opinion, see below)

Needs /usr/bin/python3 with gmpy2 (python3-gmpy2, which wraps MPFR).
Deterministic: splitmix64 seeded with FNV-1a of the table's own words; neither
Python's hash() nor its random module is used.

How a result comes about
  integers   mathematical integers, then reduced to the width
  floats     every finite value is a Fraction; an operation is done exactly and
             rounded once, to nearest even, subnormals included, by
             round_to(). sqrt is an integer square root with a sticky bit.
  functions  (exp, sin, pow ...) MPFR with PREC bits, rounded by round_to()
  subgroups  the butterfly and the scan of "Subgroups", lane by lane

Second opinion: second(line) parses every line as text again and computes its
result along another path: bit strings and other identities for integers,
MPFR's IEEE contexts (24 or 53 bits with subnormalize) and libm's fma for
floats, struct's 'e', 'f' and 'd' for conversions, recursion (a tree) instead
of the butterfly for subgroups. A disagreement ends the run.

The format is in README.md.
"""
import ctypes
import ctypes.util
import math
import os
import struct
import sys
from fractions import Fraction

import gmpy2

HERE = os.path.dirname(os.path.abspath(__file__))
PREC = 1200

# ---------------------------------------------------------------- types

INTS = ['i8', 'u8', 'i16', 'u16', 'i32', 'u32', 'i64', 'u64']
FLOATS = ['f32', 'f64']
FMT = {'f16': (5, 10), 'bf16': (8, 7), 'f32': (8, 23), 'f64': (11, 52)}
NAN = {'f16': 0x7e00, 'bf16': 0x7fc0, 'f32': 0x7fc00000,
       'f64': 0x7ff8000000000000}


def width(t):
    return 1 if t == 'bool' else 16 if t == 'bf16' else int(t[1:])


def is_float(t):
    return t in FMT


def hexs(t, bits):
    w = width(t)
    assert 0 <= bits < 1 << w, (t, bits)
    return '%0*x' % ((w + 3) // 4, bits)


def to_int(t, bits):
    """The number that an integer (or bool) of type t with these bits is."""
    w = width(t)
    return bits - (1 << w) if t[0] == 'i' and bits >> (w - 1) else bits


def wrap(t, n):
    return n & ((1 << width(t)) - 1)


def limits(t):
    w = width(t)
    return (-(1 << (w - 1)), (1 << (w - 1)) - 1) if t[0] == 'i' else \
        (0, (1 << w) - 1)


# ---------------------------------------------------------------- randomness

class Rng:
    """splitmix64"""

    def __init__(self, *words):
        h = 0xcbf29ce484222325
        for c in ' '.join(words).encode():
            h = ((h ^ c) * 0x100000001b3) & 0xffffffffffffffff
        self.s = h

    def u64(self):
        self.s = (self.s + 0x9e3779b97f4a7c15) & 0xffffffffffffffff
        z = self.s
        z = ((z ^ (z >> 30)) * 0xbf58476d1ce4e5b9) & 0xffffffffffffffff
        z = ((z ^ (z >> 27)) * 0x94d049bb133111eb) & 0xffffffffffffffff
        return z ^ (z >> 31)

    def below(self, n):
        return self.u64() % n

    def range(self, lo, hi):  # both included
        return lo + self.below(hi - lo + 1)

    def pick(self, xs):
        return xs[self.below(len(xs))]

    def real(self, lo, hi):
        return lo + (hi - lo) * (self.u64() >> 11) * 2.0 ** -53

    def bits(self, w):
        """Uniform half of the time, else of a random length or its negative."""
        k = self.below(4)
        v = self.u64() & ((1 << w) - 1)
        if k < 2:
            return v
        v >>= self.below(w)
        return v if k == 2 else -v & ((1 << w) - 1)


# ---------------------------------------------------------------- exact floats

# A float value is ('nan',), ('inf', s) or ('num', s, Fraction >= 0); s is the sign.

def decode(t, bits):
    eb, mb = FMT[t]
    s = bits >> (eb + mb)
    e = (bits >> mb) & ((1 << eb) - 1)
    m = bits & ((1 << mb) - 1)
    if e == (1 << eb) - 1:
        return ('nan',) if m else ('inf', s)
    bias = (1 << (eb - 1)) - 1
    if e == 0:
        return ('num', s, Fraction(m) * pow2(1 - bias - mb))
    return ('num', s, Fraction(m | 1 << mb) * pow2(e - bias - mb))


def pow2(e):
    return Fraction(1 << e) if e >= 0 else Fraction(1, 1 << -e)


def rne(q):
    """The integer nearest to the Fraction q >= 0, ties to even."""
    n, r = divmod(q.numerator, q.denominator)
    if 2 * r > q.denominator or (2 * r == q.denominator and n & 1):
        n += 1
    return n


def round_to(t, s, q):
    """Bits in t of (-1)^s * q, q a Fraction >= 0: to nearest, ties to even."""
    eb, mb = FMT[t]
    sign = s << (eb + mb)
    if q == 0:
        return sign
    emin = 2 - (1 << (eb - 1))
    e = q.numerator.bit_length() - q.denominator.bit_length()
    if q < pow2(e):
        e -= 1
    assert pow2(e) <= q < pow2(e + 1)
    e = max(e, emin)
    n = rne(q / pow2(e - mb))
    # n has the hidden bit, or is subnormal (e == emin); a carry increments the exponent
    bits = ((e - emin) << mb) + n
    return sign | min(bits, inf_bits(t))


def inf_bits(t):
    eb, mb = FMT[t]
    return ((1 << eb) - 1) << mb


def encode(t, v):
    if v[0] == 'nan':
        return NAN[t]
    if v[0] == 'inf':
        return v[1] << (width(t) - 1) | inf_bits(t)
    return round_to(t, v[1], v[2])


def canon(t, bits):
    return NAN[t] if is_float(t) and decode(t, bits)[0] == 'nan' else bits


def signed(v):
    return -v[2] if v[1] else v[2]


def from_signed(q, zero_sign=0):
    return ('num', 1 if q < 0 else zero_sign if q == 0 else 0, abs(q))


def f_add(a, b):
    if 'nan' in (a[0], b[0]):
        return ('nan',)
    if a[0] == 'inf' or b[0] == 'inf':
        if a[0] == b[0]:
            return a if a[1] == b[1] else ('nan',)
        return a if a[0] == 'inf' else b
    return from_signed(signed(a) + signed(b), a[1] & b[1])


def f_neg(a):
    return a if a[0] == 'nan' else (a[0], 1 - a[1]) + a[2:]


def f_mul(a, b):
    if 'nan' in (a[0], b[0]):
        return ('nan',)
    s = a[1] ^ b[1]
    if a[0] == 'inf' or b[0] == 'inf':
        if any(x[0] == 'num' and x[2] == 0 for x in (a, b)):
            return ('nan',)
        return ('inf', s)
    return ('num', s, a[2] * b[2])


def f_div(a, b):
    if 'nan' in (a[0], b[0]):
        return ('nan',)
    s = a[1] ^ b[1]
    if a[0] == 'inf':
        return ('nan',) if b[0] == 'inf' else ('inf', s)
    if b[0] == 'inf':
        return ('num', s, Fraction(0))
    if b[2] == 0:
        return ('nan',) if a[2] == 0 else ('inf', s)
    return ('num', s, a[2] / b[2])


def f_fma(a, b, c):
    return f_add(f_mul(a, b), c)  # both exact; nothing is rounded in between


def f_sqrt(a):
    if a[0] == 'nan':
        return a
    if a[0] == 'num' and a[2] == 0:
        return a
    if a[1]:
        return ('nan',)
    if a[0] == 'inf':
        return a
    k = 1200  # >= 60 bits of result for the least subnormal of f64
    n = (a[2].numerator << (2 * k)) // a[2].denominator
    r = math.isqrt(n)
    exact = Fraction(r * r) == a[2] * (1 << (2 * k))
    return ('num', 0, Fraction(2 * r + (0 if exact else 1), 1 << (k + 1)))


def f_lt(a, b):
    """a < b for non-NaN values, -0 equal to +0"""
    def key(v):
        return (2 * v[1] - 1) * -1 if v[0] == 'inf' else 0
    ka, kb = key(a), key(b)
    if ka != kb:
        return ka < kb
    return ka == 0 and signed(a) < signed(b)


def f_min(a, b, flip=False):
    if a[0] == 'nan':
        return b
    if b[0] == 'nan':
        return a
    if not f_lt(a, b) and not f_lt(b, a):  # equal: -0 is below +0
        lower, upper = (a, b) if a[1] else (b, a)
    else:
        lower, upper = (a, b) if f_lt(a, b) else (b, a)
    return upper if flip else lower


def f_max(a, b):
    return f_min(a, b, True)


def f_integral(op, a):
    if a[0] != 'num':
        return a
    q = signed(a)
    n = {'floor': lambda: q.__floor__(), 'ceil': lambda: q.__ceil__(),
         'trunc': lambda: q.__trunc__(),
         'round': lambda: -rne(-q) if q < 0 else rne(q)}[op]()
    return ('num', a[1], Fraction(abs(n)))


# ---------------------------------------------------------------- operations

BINARY_INT = ['add', 'sub', 'mul', 'div', 'rem', 'and', 'or', 'xor', 'shl', 'shr',
              'min', 'max', 'mulhi', 'sat_add', 'sat_sub', 'ceil_div', 'rotl', 'rotr']
UNARY_INT = ['not', 'neg', 'abs', 'clz', 'ctz', 'popcount', 'reverse_bits']
COMPARE = ['eq', 'ne', 'lt', 'le', 'gt', 'ge']
BINARY_FLOAT = ['add', 'sub', 'mul', 'div', 'min', 'max']
UNARY_FLOAT = ['neg', 'abs', 'sqrt', 'rsqrt', 'floor', 'ceil', 'round', 'trunc',
               'is_nan', 'is_inf']


def compare(op, less, equal):
    return int({'eq': equal, 'ne': not equal, 'lt': less, 'le': less or equal,
                'gt': not less and not equal, 'ge': not less}[op])


def trunc_div(a, b):
    q = abs(a) // abs(b)
    return -q if (a < 0) != (b < 0) else q


def int_op(op, t, ops):
    """Result bits; operands are bits."""
    w = width(t)
    lo, hi = limits(t)
    mask = (1 << w) - 1
    if op == 'extract':
        off = min(ops[1], w)
        n = min(ops[2], w - off)
        v = (ops[0] >> off) & ((1 << n) - 1)
        if t[0] == 'i' and n and v >> (n - 1):
            v -= 1 << n
        return v & mask
    if op == 'insert':
        off = min(ops[2], w)
        n = min(ops[3], w - off)
        m = ((1 << n) - 1) << off
        return (ops[0] & ~m | (ops[1] << off) & m) & mask
    if op == 'select':
        return ops[1] if ops[0] else ops[2]
    x = [to_int(t, v) for v in ops]
    a = x[0]
    b = x[1] if len(x) > 1 else None
    if op in COMPARE:
        return compare(op, a < b, a == b)
    if op in ('div', 'ceil_div') and b == 0:
        return 0 if t[0] == 'i' else mask
    if op == 'rem' and b == 0:
        return 0
    k = ops[1] % w if op in ('shl', 'shr', 'rotl', 'rotr') else 0
    u = ops[0]
    r = {
        'add': lambda: a + b,
        'sub': lambda: a - b,
        'mul': lambda: a * b,
        'div': lambda: trunc_div(a, b),
        'rem': lambda: a - b * trunc_div(a, b),
        'and': lambda: a & b,
        'or': lambda: a | b,
        'xor': lambda: a ^ b,
        'not': lambda: ~a,
        'shl': lambda: a << k,
        'shr': lambda: a >> k,
        'neg': lambda: -a,
        'min': lambda: min(a, b),
        'max': lambda: max(a, b),
        'abs': lambda: abs(a),
        'clamp': lambda: min(max(a, b), x[2]),
        'mulhi': lambda: (a * b) >> w,
        'sat_add': lambda: min(max(a + b, lo), hi),
        'sat_sub': lambda: min(max(a - b, lo), hi),
        'ceil_div': lambda: -((-a) // b),
        'rotl': lambda: u << k | u >> (w - k),
        'rotr': lambda: u >> k | u << (w - k),
        'clz': lambda: w - u.bit_length(),
        'ctz': lambda: (u & -u).bit_length() - 1 if u else w,
        'popcount': lambda: sum(u >> i & 1 for i in range(w)),
        'reverse_bits': lambda: sum((u >> i & 1) << (w - 1 - i) for i in range(w)),
    }[op]()
    return wrap(t, r)


def float_op(op, t, ops):
    if op == 'select':
        return canon(t, ops[1] if ops[0] else ops[2])
    v = [decode(t, b) for b in ops]
    if op in COMPARE:
        if any(x[0] == 'nan' for x in v):
            return int(op == 'ne')
        less = f_lt(*v)
        return compare(op, less, not less and not f_lt(v[1], v[0]))
    if op == 'is_nan':
        return int(v[0][0] == 'nan')
    if op == 'is_inf':
        return int(v[0][0] == 'inf')
    if op in ('floor', 'ceil', 'round', 'trunc'):
        return encode(t, f_integral(op, v[0]))
    if op == 'rsqrt':
        root = decode(t, encode(t, f_sqrt(v[0])))  # rounds here, and once more below
        return encode(t, f_div(('num', 0, Fraction(1)), root))
    f = {'add': f_add, 'sub': lambda a, b: f_add(a, f_neg(b)), 'mul': f_mul,
         'div': f_div, 'min': f_min, 'max': f_max, 'neg': f_neg,
         'abs': lambda a: f_neg(a) if a[0] != 'nan' and a[1] else a,
         'fma': f_fma, 'sqrt': f_sqrt,
         'clamp': lambda x, lo, hi: f_min(f_max(x, lo), hi)}[op]
    return encode(t, f(*v))


def bool_op(op, ops):
    a = ops[0]
    b = ops[1] if len(ops) > 1 else None
    return {'eq': lambda: int(a == b), 'ne': lambda: int(a != b),
            'and': lambda: a & b, 'or': lambda: a | b, 'xor': lambda: a ^ b,
            'not': lambda: 1 - a, 'select': lambda: b if a else ops[2]}[op]()


def cast(src, dst, bits):
    if is_float(src):
        v = decode(src, bits)
        if dst == 'bool':  # x != 0, so NaN is true
            return int(not (v[0] == 'num' and v[2] == 0))
        if is_float(dst):
            return encode(dst, v)
        lo, hi = limits(dst)
        if v[0] == 'nan':
            return 0
        if v[0] == 'inf':
            return wrap(dst, lo if v[1] else hi)
        return wrap(dst, min(max(signed(v).__trunc__(), lo), hi))
    n = to_int(src, bits)
    if dst == 'bool':
        return int(n != 0)
    if is_float(dst):
        return round_to(dst, int(n < 0), Fraction(abs(n)))
    return wrap(dst, n)


def bitcast(src, dst, bits):
    return canon(dst, canon(src, bits))


# ---------------------------------------------------------------- functions (MPFR)

FUNC1 = ['exp', 'exp2', 'log', 'log2', 'sin', 'cos', 'tan', 'tanh']
FUNC2 = ['pow', 'atan2']
HIGH = gmpy2.context(precision=PREC, emax=1 << 40, emin=-(1 << 40))
WORK = {'f32': gmpy2.ieee(32), 'f64': gmpy2.ieee(64)}


def as_float(t, bits):
    if t == 'f32':
        return struct.unpack('<f', struct.pack('<I', bits))[0]
    return struct.unpack('<d', struct.pack('<Q', bits))[0]


def mpfr_call(op, ctx, xs):
    return getattr(ctx, op)(*xs)


def function(op, ops):
    gmpy2.set_context(HIGH)
    r = mpfr_call(op, gmpy2.get_context(),
                  [gmpy2.mpfr(as_float('f32', b)) for b in ops])
    if gmpy2.is_nan(r):
        return NAN['f32']
    s = int(gmpy2.is_signed(r))
    if gmpy2.is_infinite(r):
        return encode('f32', ('inf', s))
    if gmpy2.is_zero(r):
        return encode('f32', ('num', s, Fraction(0)))
    m, e = r.as_mantissa_exp()
    m, e = abs(int(m)), int(e)
    top = e + m.bit_length()
    if top > 300:
        return encode('f32', ('inf', s))
    if top < -300:
        return encode('f32', ('num', s, Fraction(0)))
    return round_to('f32', s, Fraction(m) * pow2(e))


# ---------------------------------------------------------------- subgroups

def identity(op, t):
    if op == 'add' and is_float(t):
        return 1 << (width(t) - 1)  # -0.0
    if op in ('min', 'max') and is_float(t):
        return NAN[t]
    if op in ('add', 'or', 'xor'):
        return 0
    if op == 'and':
        return (1 << width(t)) - 1
    return wrap(t, limits(t)[1 if op == 'min' else 0])


def any_op(op, t, ops):
    return (float_op if is_float(t) else int_op)(op, t, ops)


def subgroup(name, t, S, vals):
    """Result bits of the lanes that exist; vals are theirs."""
    N = len(vals)
    op = name[len('subgroup_'):]
    if op == 'ballot':
        return [sum(v << i for i, v in enumerate(vals))] * N
    if op == 'scan_add':
        v = list(vals)
        d = 1
        while d < S:
            v = [any_op('add', t, [v[i - d], v[i]]) if i >= d else v[i]
                 for i in range(N)]
            d *= 2
        return [0] + [canon(t, x) for x in v[:-1]]
    v = list(vals) + [identity(op, t)] * (S - N)
    d = S // 2
    while d:
        v = [any_op(op, t, [v[i], v[i ^ d]]) for i in range(S)]
        d //= 2
    return [canon(t, x) for x in v[:N]]


# ---------------------------------------------------------------- operand choices

def int_corners(w):
    """All bits patterns that matter, the most telling first."""
    ones = (1 << w) - 1
    half = 1 << (w - 1)
    return [0, 1, ones, half, half - 1, 2, 3, ones - 1, half + 1, 10, ones - 6,
            w, ones // 3, ones // 3 * 2, (1 << (w // 2)) - 1, 1 << (w // 2)]


def float_corners(t):
    """The most telling first. NaNs: quiet, signalling, negative with a payload."""
    if t == 'f32':
        return [0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                0x7fc00000, 0x7f800001, 0xffd23456, 0x00000001, 0x807fffff, 0x00800000,
                0x7f7fffff, 0xff7fffff, 0x3f800001, 0x40400000, 0xbf000000, 0x3dcccccd,
                0x4b800000, 0x80800001]
    return [0x0000000000000000, 0x8000000000000000, 0x3ff0000000000000,
            0xbff0000000000000, 0x7ff0000000000000, 0xfff0000000000000,
            0x7ff8000000000000, 0x7ff0000000000001, 0xfffa3456789abcde,
            0x0000000000000001, 0x800fffffffffffff, 0x0010000000000000,
            0x7fefffffffffffff, 0xffefffffffffffff, 0x3ff0000000000001,
            0x4008000000000000, 0xbfe0000000000000, 0x3fb999999999999a,
            0x4340000000000000, 0x8010000000000001]


def make_float(t, s, e, m):
    """Bits with sign s, biased exponent e (clamped to finite) and mantissa m."""
    eb, mb = FMT[t]
    e = min(max(e, 0), (1 << eb) - 2)
    return s << (eb + mb) | e << mb | (m & ((1 << mb) - 1))


def rand_float(r, t, e=None):
    """A finite float; every third has few mantissa bits, so that ties are met."""
    eb, mb = FMT[t]
    m = r.u64()
    if r.below(3) == 0:
        m = (m >> 8) << (mb - r.below(mb // 2 + 2))
    if e is None:
        e = r.below((1 << eb) - 1)
    return make_float(t, r.below(2), e, m)


def float_pairs(op, t, n):
    """Random operands whose result is of interest for op."""
    eb, mb = FMT[t]
    bias = (1 << (eb - 1)) - 1
    r = Rng('float', op, t)
    out = []
    for i in range(n):
        k = i % 6
        e = r.range(1, 2 * bias)
        if k == 0:
            out.append([rand_float(r, t), rand_float(r, t)])
        elif k == 1:  # around one
            out.append([rand_float(r, t, bias + r.range(-3, 3)),
                        rand_float(r, t, bias + r.range(-3, 3))])
        elif op in ('mul', 'div'):
            # result near the least normal, the least subnormal or the greatest
            target = r.pick([1, 1 - mb // 2, 1 - mb, -mb, 2 * bias, 2 * bias])
            other = target - e + bias if op == 'mul' else e - target + bias
            out.append([rand_float(r, t, e), rand_float(r, t, other + r.range(-1, 1))])
        elif op in ('add', 'sub'):
            if k == 2:  # cancellation
                a = rand_float(r, t, e)
                b = (a ^ (1 << (eb + mb) if op == 'add' else 0)) ^ r.below(8)
                out.append([a, b])
            elif k == 3:  # half an ulp, a bit more, a bit less
                a = rand_float(r, t, max(e, mb + 3))
                ea = a >> mb & ((1 << eb) - 1)
                b = make_float(t, r.below(2), ea - mb - 1, r.pick([0, 0, 1, 1 << (mb - 1)]))
                if r.below(4) == 0:
                    b -= 1
                out.append([a, b])
            elif k == 4:  # both small
                out.append([rand_float(r, t, r.below(4)), rand_float(r, t, r.below(4))])
            else:
                out.append([rand_float(r, t, e), rand_float(r, t, e + r.range(-mb, mb))])
        else:  # min, max, comparisons
            a = rand_float(r, t)
            out.append([a, r.pick([a, a ^ 1, a ^ 1 << (eb + mb), a ^ 2, rand_float(r, t)])])
    return out


def line(op, t, rest, result):
    return ' '.join([op] + t + rest + ['=', result])


# ---------------------------------------------------------------- tables

def table_integer():
    for t in INTS:
        w = width(t)
        C = int_corners(w)

        def emit(op, ops, types=None):
            types = types or [t] * len(ops)
            res = hexs('bool' if op in COMPARE else t, int_op(op, t, ops))
            return line(op, [t], [hexs(a, b) for a, b in zip(types, ops)], res)

        for op in UNARY_INT:
            if op == 'neg' and t[0] == 'u':
                continue
            r = Rng(op, t)
            xs = C + [1 << i for i in range(0, w, w // 8)] + \
                [r.bits(w) for _ in range(60 if w == 8 else 24)]
            for x in xs:
                yield emit(op, [x])
        for op in BINARY_INT:
            r = Rng(op, t)
            if op in ('shl', 'shr', 'rotl', 'rotr'):
                ones = (1 << w) - 1
                A = [1, ones, 0x8123456789abcde5 >> (64 - w), ones // 3]
                B = [0, 1, 2, w // 2, w - 1, w, w + 1, 2 * w - 1, ones, ones - 1,
                     1 << (w - 1), (1 << (w - 1)) - 1]
            elif op in ('and', 'or', 'xor'):
                A = B = C[:3] + C[12:14]
            elif op in ('min', 'max'):
                A = B = C[:6]
            elif op in ('add', 'sub', 'sat_add', 'sat_sub'):
                A = B = C[:8] if w < 64 else C[:7]
            else:
                A = B = C[:13] if w == 8 else C[:9] + [C[14]] if w < 64 else C[:8] + [C[14]]
            for a in A:
                for b in B:
                    yield emit(op, [a, b])
            for _ in range(40 if w == 8 else 12 if op in ('and', 'or', 'xor', 'min', 'max') else 25):
                yield emit(op, [r.bits(w), r.bits(w)])
        for op in COMPARE:
            r = Rng(op, t)
            for a in C[:6]:
                for b in C[:6]:
                    yield emit(op, [a, b])
            for i in range(10):
                a = r.bits(w)
                yield emit(op, [a, r.pick([r.bits(w), a, a ^ 1, a ^ 1 << (w - 1)])])
        r = Rng('three', t)
        for a in C[1:5]:
            for b in C[1:5]:
                for c in C[1:5]:
                    yield emit('clamp', [a, b, c])
        for _ in range(20):
            yield emit('clamp', [r.bits(w), r.bits(w), r.bits(w)])
        for _ in range(8):
            for c in (0, 1):
                yield emit('select', [c, r.bits(w), r.bits(w)], ['bool', t, t])
        big = 0xffffffff
        V = [0x8123456789abcde5 >> (64 - w), 0x7edcba9876543a5a >> (64 - w)]
        OFF = [0, 1, w // 2, w - 1, w, w + 1, big]
        LEN = [0, 1, w // 2, w, big]
        for i in range(2):
            for off in OFF:
                for n in LEN:
                    if i == 0 or n == w // 2:
                        yield emit('extract', [V[i], off, n], [t, 'u32', 'u32'])
                    if i == 0:
                        yield emit('insert', [V[i], V[1 - i], off, n], [t, t, 'u32', 'u32'])
        for _ in range(30):
            off, n = r.below(w + 2), r.below(w + 2)
            yield emit('extract', [r.bits(w), off, n], [t, 'u32', 'u32'])
            off, n = r.below(w), r.below(w)
            yield emit('insert', [r.bits(w), r.bits(w), off, n], [t, t, 'u32', 'u32'])


def table_bool():
    for op in ['eq', 'ne', 'and', 'or', 'xor', 'not', 'select']:
        n = {'not': 1, 'select': 3}.get(op, 2)
        for i in range(1 << n):
            ops = [i >> (n - 1 - k) & 1 for k in range(n)]
            yield line(op, ['bool'], ['%d' % x for x in ops], '%d' % bool_op(op, ops))


def integral_inputs(t):
    """Halves, quarters and the neighbours of integers up to 2^(mantissa+2)."""
    eb, mb = FMT[t]
    out = []
    for x in [0, 1, 2, 3, 1000, 1 << (mb - 1), (1 << (mb - 1)) + 1, (1 << mb) - 1, 1 << mb,
              1 << (mb + 1)]:
        for frac in (Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
            for s in (0, 1):
                b = round_to(t, s, x + frac)
                out.append(b)
                if frac in (0, Fraction(1, 2)):
                    out += [b + 1] + ([b - 1] if b & ~(1 << (eb + mb)) else [])
    return out


def table_float():
    for t in FLOATS:
        eb, mb = FMT[t]
        bias = (1 << (eb - 1)) - 1
        sign = 1 << (eb + mb)
        C = float_corners(t)

        def emit(op, ops, types=None):
            types = types or [t] * len(ops)
            res = float_op(op, t, ops)
            rt = 'bool' if op in COMPARE or op in ('is_nan', 'is_inf') else t
            return line(op, [t], [hexs(a, b) for a, b in zip(types, ops)], hexs(rt, res))

        for op in UNARY_FLOAT:
            r = Rng(op, t)
            xs = C + [x ^ sign for x in C] + [inf_bits(t) | 1 << (mb - 1) | 0x155,
                                              sign | inf_bits(t) | 1]
            if op in ('floor', 'ceil', 'round', 'trunc'):
                xs += integral_inputs(t)
                xs += [rand_float(r, t, bias + r.range(-2, mb + 1)) for _ in range(30)]
            elif op in ('sqrt', 'rsqrt'):
                for k in (2, 3, 4, 5, 7, 9, 10, 16, 100, 4095, (1 << mb // 2) - 1):
                    xs += [round_to(t, 0, Fraction(k)), round_to(t, 0, Fraction(k * k)),
                           round_to(t, 0, Fraction(k * k)) - 1,
                           round_to(t, 0, Fraction(k * k)) + 1]
                xs += [make_float(t, 0, bias, -1), make_float(t, 0, bias - 1, -1),
                       make_float(t, 0, bias + 1, -1), 2, 3, 4, 5]
                xs += [rand_float(r, t) & ~sign for _ in range(40)]
                xs += [r.u64() & ((1 << mb) - 1) >> r.below(mb) for _ in range(12)]
                xs += [rand_float(r, t) | sign for _ in range(3)]
            else:
                xs += [rand_float(r, t) for _ in range(12)]
            for x in xs:
                yield emit(op, [x])
        for op in BINARY_FLOAT + COMPARE:
            arith = op in ('add', 'sub', 'mul', 'div')
            A = C[:15] if arith else C[:11] if op in ('min', 'max') else C[:10]
            for a in A:
                for b in A:
                    yield emit(op, [a, b])
            for ops in float_pairs(op, t, 72 if arith else 18):
                yield emit(op, ops)
        for a in C[:8]:
            for b in C[:8]:
                for c in C[:8]:
                    # the product commutes; one kind of NaN is enough here
                    if a <= b and C[6] not in (a, b, c) and (C[7] not in (a, b) or c == C[0]):
                        yield emit('fma', [a, b, c])
        r = Rng('fma', t)
        for i in range(180):
            k = i % 6
            e = r.range(bias - 20, bias + 20)
            a = rand_float(r, t, e)
            b = rand_float(r, t, bias - 20 + r.below(41))
            prod = float_op('mul', t, [a, b])
            ep = prod >> mb & ((1 << eb) - 1)
            if k == 0:    # c near -(a*b): what is left is the rounding error
                c = prod ^ sign ^ r.pick([0, 0, 1])
            elif k == 1:  # the product is a tie, c decides
                a = make_float(t, r.below(2), e, r.u64() << (mb - mb // 2 - 1) | 1 << (mb - mb // 2 - 1))
                b = make_float(t, r.below(2), bias, 1 << (mb - (mb - mb // 2) - r.below(2)))
                c = make_float(t, r.below(2), bias - mb * 3, r.u64())
            elif k == 2:  # like magnitudes
                c = rand_float(r, t, ep + r.range(-mb - 2, mb + 2))
            elif k == 3:  # subnormal result, with c or without
                a = rand_float(r, t, r.range(1, bias))
                b = rand_float(r, t, bias - (a >> mb & ((1 << eb) - 1)) + r.range(-mb, 1))
                c = r.pick([0, sign, 1, sign | 1, rand_float(r, t, 0), rand_float(r, t, 1)])
            elif k == 4:  # around the greatest
                a = rand_float(r, t, r.range(bias + 1, 2 * bias))
                b = rand_float(r, t, 3 * bias - (a >> mb & ((1 << eb) - 1)) + r.range(-1, 1))
                c = rand_float(r, t, 2 * bias - r.below(mb)) & ~sign | (~(a ^ b) & sign)
            else:
                c = rand_float(r, t)
                a = rand_float(r, t)
                b = rand_float(r, t)
            yield emit('fma', [a, b, c])
        # 1 + 2^-m squared and the like: rounding twice gives another result
        one = bias << mb
        for x in (one + 1, one + 3, one - 1, one | 1 << (mb - 1)):
            for c in (one | sign, (one + 2) | sign, (one + 1) | sign, 1, sign | 1):
                yield emit('fma', [x, x, c])
        D = [C[i] for i in (0, 1, 2, 5, 7)]
        for a in D:
            for b in D:
                for c in D:
                    yield emit('clamp', [a, b, c])
        r = Rng('clamp', t)
        for _ in range(20):
            yield emit('clamp', [rand_float(r, t, bias + r.below(2)) for _ in range(3)])
        for a in (C[0], C[1], C[2], C[6], C[7], C[8], C[9]):
            for c in (0, 1):
                yield emit('select', [c, a, C[3]], ['bool', t, t])
                yield emit('select', [c, C[5], a], ['bool', t, t])


CAST_TYPES = ['bool'] + INTS + FLOATS


def cast_inputs(src, dst):
    r = Rng('cast', src, dst)
    w = width(src)
    if src == 'bool':
        return [0, 1]
    if not is_float(src):
        xs = int_corners(w)
        if dst == src:
            return xs[:6]
        if dst == 'bool':
            return xs[:6] + [1 << i for i in range(0, w, 5)]
        if is_float(dst):
            p = FMT[dst][1] + 1
            top = w - (src[0] == 'i')
            for k in range(p, top):
                # ties at this magnitude: down to even, up to even, either side
                half = 1 << (k - p) if k > p else 0
                base = 1 << k
                ulp = 2 * half if half else 1
                for v in (base + half, base + ulp + half, base + half + 1, base + half - 1,
                          2 * base - 1, 2 * base - half):
                    if v < 1 << top and (k < p + 3 or k > top - 3 or r.below(6) == 0):
                        xs += [v] + ([-v & ((1 << w) - 1)] if src[0] == 'i' else [])
            for k in (24, 53):
                if top > k + 1:
                    xs += [(1 << k) - 1, 1 << k, (1 << k) + 1, (1 << k) + 2, (1 << k) + 3]
                    if src[0] == 'i':
                        xs += [-((1 << k) + 1) & ((1 << w) - 1), -((1 << k) + 3) & ((1 << w) - 1)]
        return xs + [r.bits(w) for _ in range(16 if is_float(dst) else 5)]
    eb, mb = FMT[src]
    sign = 1 << (eb + mb)
    xs = list(float_corners(src))
    if dst == src or dst == 'bool':
        return xs + [x ^ sign for x in xs] + [rand_float(r, src) for _ in range(4)]
    if is_float(dst):
        if src == 'f32':
            xs += [x ^ sign for x in xs] + [2, 3, 0x7fffff, 0x400000]
            xs += [r.below(1 << 23) >> r.below(20) for _ in range(10)]
            return xs + [rand_float(r, src) for _ in range(30)]
        # f64 to f32: exact, a tie, either side of the tie; everywhere
        for e in [-1080 + 30, -152, -151, -150, -149, -148, -140, -130, -127, -126, -125, -1, 0,
                  1, 60, 126, 127, 128, 300]:
            for _ in range(3):
                p = min(23, max(e + 149, -1))  # mantissa bits left at this exponent
                m = (1 << 52) if p < 0 else ((1 << p) | r.below(1 << p)) << (52 - p)
                half = 0 if p < 0 else 1 << (51 - p)
                if r.below(3) == 0 and p >= 0:
                    m |= ((1 << p) - 1) << (52 - p)
                for add in (0, half, half + 1, half - 1 if half else 1):
                    q = Fraction(m + add) * pow2(e - 52)
                    xs.append(round_to('f64', r.below(2), q))
        top = Fraction((1 << 25) - 1) * pow2(103)  # halfway from FLT_MAX to 2^128
        b = round_to('f64', 0, top)
        xs += [b, b - 1, b + 1, b | sign, (b - 1) | sign]
        return xs + [rand_float(r, 'f64', 1023 + r.range(-150, 128)) for _ in range(30)]
    lo, hi = limits(dst)
    for n in (lo, hi):
        for q in (n - 1, n - Fraction(1, 2), n, n + Fraction(1, 2), n + 1,
                  n + 1 + Fraction(1, 2)):
            b = round_to(src, int(q < 0), abs(Fraction(q)))
            xs += [b, b + 1, b ^ sign] + ([b - 1] if b & ~sign else [])
    for q in (Fraction(1, 2), Fraction(3, 2), Fraction(5, 2), Fraction(99, 100)):
        xs += [round_to(src, 0, q), round_to(src, 1, q)]
    w = width(dst)
    bias = (1 << (eb - 1)) - 1
    xs += [rand_float(r, src, bias + r.range(-2, w + 1)) for _ in range(12)]
    return xs


def table_cast():
    for src in CAST_TYPES:
        for dst in CAST_TYPES:
            for x in cast_inputs(src, dst):
                yield line('cast', [src, dst], [hexs(src, x)], hexs(dst, cast(src, dst, x)))
    for group in (['i8', 'u8'], ['i16', 'u16'], ['i32', 'u32', 'f32'], ['i64', 'u64', 'f64']):
        for src in group:
            for dst in group:
                if src == dst:
                    continue
                w = width(src)
                r = Rng('bitcast', src, dst)
                xs = int_corners(w)
                if 'f%d' % w in (src, dst):
                    xs = xs + float_corners('f%d' % w)
                for x in xs + [r.bits(w) for _ in range(8)]:
                    yield line('bitcast', [src, dst], [hexs(src, x)],
                               hexs(dst, bitcast(src, dst, x)))


def table_storage():
    for h in ('f16', 'bf16'):
        eb, mb = FMT[h]
        inf = inf_bits(h)
        corner = [0, 1, 2, 3, (1 << mb) - 1, 1 << mb, (1 << mb) + 1, inf - 1, inf, inf + 1,
                  NAN[h], NAN[h] + 1, 0x7fff, ((1 << (eb - 1)) - 1) << mb]
        step = 13 if h == 'f16' else 65  # a bf16 is the upper half of an f32: fewer will do
        xs = sorted(set(list(range(0, 65536, step)) + corner + [c | 0x8000 for c in corner]))
        for x in xs:
            yield line('load_' + h, [], [hexs(h, x)], hexs('f32', encode('f32', decode(h, x))))
    for h in ('f16', 'bf16'):
        eb, mb = FMT[h]
        r = Rng('store', h)
        xs = list(float_corners('f32')) + [x ^ 0x80000000 for x in float_corners('f32')]
        # every exponent of the storage type: exact, a tie, either side of the tie
        inf = inf_bits(h)
        bases = [0, 1, 2, 3, 4, 5, (1 << mb) - 1, 1 << mb, inf - 1, inf - 2]
        bases += [(e << mb) | r.below(1 << mb) for e in range(0, (1 << eb) - 1,
                                                              1 if eb == 5 else 9)]
        bases += [r.below(inf) for _ in range(20)]
        bases += [r.below(1 << mb) for _ in range(8)]
        for b in bases:
            lo = decode(h, b)[2]
            # the step above b; beyond the greatest value it goes on as if there were no infinity
            ulp = decode(h, b + 1)[2] - lo if b + 1 < inf else lo - decode(h, b - 1)[2]
            tie = round_to('f32', 0, lo + ulp / 2)
            for y in (round_to('f32', 0, lo), tie, tie + 1, tie - 1):
                if 0 <= y <= 0x7f800000:
                    xs.append(y | r.below(2) << 31)
        xs += [r.below(1 << 32) for _ in range(20)]
        xs += [rand_float(r, 'f32', 127 + r.range(-26, 17)) for _ in range(60)]
        xs += [0x7f800000 | 1 << i for i in range(23)]  # NaNs of every payload bit
        for x in xs:
            yield line('store_' + h, [], [hexs('f32', x)],
                       hexs(h, encode(h, decode('f32', x))))


def f2b(x):
    """Bits of the f32 nearest to a Python float."""
    if x == 0 or x != x or abs(x) == math.inf:
        return struct.unpack('<I', struct.pack('<f', x))[0]
    return round_to('f32', int(x < 0), abs(Fraction(x)))


def near(x, n):
    b = f2b(x)
    return [b + i for i in range(-n, n + 1)]


def pm(xs):
    return [y for x in xs for y in (x, x ^ 0x80000000)]


def hard_for_trig(n):
    """f32 values unusually near to a multiple of pi/2: convergents of 2^e/(pi/2)."""
    gmpy2.set_context(HIGH)
    out = []
    for e in range(-22, 105):
        x = (gmpy2.mpfr(2) ** e) / (gmpy2.const_pi() / 2)
        p0, q0, p1, q1 = 0, 1, 1, 0
        best = None
        for _ in range(60):
            a = int(gmpy2.floor(x))
            p0, q0, p1, q1 = p1, q1, a * p1 + p0, a * q1 + q0
            if q1 >= 1 << 24:
                break
            if q1 > 1 << 12:
                best = q1
            x = 1 / (x - a)
        if best:
            out.append(round_to('f32', 0, Fraction(best) * pow2(e)))
    return out[::max(1, len(out) // n)]


def function_inputs(op):
    r = Rng('function', op)
    inf = math.inf
    special = [f2b(x) for x in (0.0, -0.0, 1.0, -1.0, inf, -inf, 0.5, -0.5, 2.0, -2.0, 10.0)]
    special += [0x7fc00000, 0x7f800001, 0xffd23456, 1, 0x80000001, 0x007fffff, 0x807fffff,
                0x00800000, 0x80800000, 0x7f7fffff, 0xff7fffff]

    def uniform(lo, hi, n):
        return [f2b(r.real(lo, hi)) for _ in range(n)]

    def loguniform(lo, hi, n):
        return [rand_float(r, 'f32', 127 + r.range(lo, hi)) for _ in range(n)]

    xs = special
    if op == 'exp':
        xs = xs + near(88.72283905206835, 4) + near(-87.33654475055310, 3)
        xs += near(-103.97207708399179, 4) + near(-103.27892990343184, 2)
        xs += near(0.6931471805599453, 2) + near(0.34657359027997264, 3)
        xs += pm([f2b(float(k)) for k in (3, 5, 20, 50, 80, 88, 89, 100, 104, 105, 1000)])
        xs += uniform(-87.3, 88.7, 60) + uniform(-104, -87, 20) + uniform(-1, 1, 30)
        xs += loguniform(-40, 8, 30)
    elif op == 'exp2':
        xs = xs + near(128.0, 3) + near(-126.0, 3) + near(-149.0, 3) + near(-150.0, 3)
        xs += [f2b(k / 2.0) for k in range(-12, 13)] + [f2b(-149.5), f2b(-148.5), f2b(-127.0),
                                                        f2b(127.0), f2b(1e6), f2b(-1e6)]
        xs += uniform(-126, 128, 60) + uniform(-150, -126, 20) + uniform(-1, 1, 30)
        xs += loguniform(-40, 8, 30)
    elif op in ('log', 'log2'):
        xs = xs + near(1.0, 12) + near(math.e, 2) + near(2.0, 3) + near(0.5, 3)
        xs += near(math.sqrt(0.5), 3) + near(math.sqrt(2), 3)
        xs += [2, 3, 4, 7, 100, 0x400000, 0x7ffffe, 0x00800001]
        xs += [f2b(2.0 ** k) for k in (-140, -126, -50, -10, -3, 3, 10, 50, 100, 127)]
        xs += [rand_float(r, 'f32') & 0x7fffffff for _ in range(50)]
        xs += uniform(0.5, 2.0, 40) + uniform(0.97, 1.03, 20)
        xs += [r.below(1 << 23) >> r.below(20) for _ in range(6)] + [f2b(-1e-30), f2b(-7.5)]
    elif op in ('sin', 'cos', 'tan'):
        xs = xs + hard_for_trig(42)
        for k in range(1, 9):
            xs += near(k * math.pi / 4, 1)
        xs += near(1e5 * math.pi, 1) + [f2b(1e10), f2b(1e20), f2b(-1e30), f2b(3e38),
                                        0x5922aa80, 0x5f18b878, 0x6115cb11]
        xs += uniform(-math.pi, math.pi, 40) + uniform(-100, 100, 20)
        xs += uniform(-1e5, 1e5, 15) + loguniform(17, 127, 25) + loguniform(-30, 0, 15)
    elif op == 'tanh':
        xs = xs + near(9.010913, 4) + near(-9.010913, 2) + near(0.625, 2) + near(0.54930615, 2)
        xs += near(8.664, 2) + near(2.0 ** -12, 2) + [f2b(20.0), f2b(-20.0), f2b(100.0)]
        xs += uniform(-10, 10, 70) + uniform(-1, 1, 50) + loguniform(-30, 4, 50)
    elif op == 'pow':
        sp = [f2b(x) for x in (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, inf, -inf)]
        sp += [0x7fc00000, 0xff800001, 0x7f7fffff, 0xff7fffff, 1, 0x80000001]
        ps = [[a, b] for a in sp for b in sp]
        big = [16777215.0, -16777215.0, 16777216.0, 8388607.0, 8388607.5, -8388609.0, 1.5, -1.5]
        ps += [[f2b(a), f2b(b)] for a in (-0.0, -1.0, -2.0, -0.99999994, 1.0000001)
               for b in big]
        for _ in range(60):  # base near one, great exponent
            a = 0x3f800000 + r.range(-2000, 2000)
            lg = math.log2(as_float('f32', a)) if a != 0x3f800000 else 1.0
            ps.append([a, f2b(r.real(-150, 128.5) / lg)])
        for _ in range(100):
            a = rand_float(r, 'f32') & 0x7fffffff
            lg = math.log2(as_float('f32', a)) if as_float('f32', a) not in (0.0, 1.0) else 1.0
            ps.append([a, f2b(r.real(-150, 128.5) / lg)])
        for _ in range(25):  # ordinary ones
            ps.append([f2b(r.real(0, 20)), f2b(r.real(-5, 5))])
        for _ in range(40):  # negative base, integer exponent
            ps.append([f2b(-r.real(0, 20)), f2b(float(r.range(-30, 30)))])
        for k in (-1, 0, 1, 2, 3, 4):  # exact and tie cases
            for a in (3.0, 4097.0, 8191.0, 1.0000001, 0.1):
                ps.append([f2b(a), f2b(float(k))])
        ps += [[f2b(2.0), f2b(x)] for x in (127.0, 128.0, -126.0, -149.0, -150.0, -150.5, -151.0)]
        ps += [[f2b(x), f2b(0.5)] for x in (2.0, 4.0, 9.0, 1e-40, 3e38)]
        return ps
    elif op == 'atan2':
        sp = [f2b(x) for x in (0.0, -0.0, 1.0, -1.0, 3.0, -3.0, inf, -inf)]
        sp += [0x7fc00000, 0xff800001, 0x7f7fffff, 0xff7fffff, 1, 0x80000001]
        ps = [[a, b] for a in sp for b in sp]
        for _ in range(100):
            e = r.range(30, 224)
            ps.append([rand_float(r, 'f32', e), rand_float(r, 'f32', e + r.range(-14, 14))])
        for _ in range(30):  # results near zero, subnormal, near +-pi, +-pi/2
            e = r.below(255)
            ps.append([rand_float(r, 'f32', e), rand_float(r, 'f32', e + r.range(-150, 150))])
        for _ in range(10):
            ps.append([rand_float(r, 'f32', 0), rand_float(r, 'f32', r.below(4))])
        for _ in range(10):  # diagonals
            a = rand_float(r, 'f32')
            ps.append([a, (a & 0x7fffffff) + r.range(-1, 1) | r.below(2) << 31])
        ps += [[3, f2b(2.0)], [1, f2b(2.0)], [0x80000003, f2b(2.0)], [5, f2b(4.0)],
               [0x00800000, f2b(2.0)], [0x00800001, f2b(2.0)]]
        return ps
    return [[x] for x in xs]


def table_functions():
    for op in FUNC1 + FUNC2:
        for ops in function_inputs(op):
            yield line(op, ['f32'], [hexs('f32', x) for x in ops],
                       hexs('f32', function(op, ops)))


SUBGROUP = [('subgroup_' + op, t) for op in ('add', 'min', 'max')
            for t in ('i32', 'u32', 'i64', 'f32', 'f64')]
SUBGROUP += [('subgroup_' + op, 'u32') for op in ('and', 'or', 'xor')]
SUBGROUP += [('subgroup_scan_add', t) for t in ('u32', 'i32', 'f32')]
SUBGROUP += [('subgroup_ballot', 'bool')]


def subgroup_values(r, name, t, n, kind):
    w = width(t)
    if t == 'bool':
        return [1 - kind if kind < 2 else r.below(2) for _ in range(n)]
    if not is_float(t):
        if name == 'subgroup_and':
            return [r.u64() & 0xffffffff | r.u64() & 0xffffffff | r.u64() & 0xffffffff
                    | r.u64() & 0xffffffff for _ in range(n)]
        if name == 'subgroup_or':
            return [r.u64() & r.u64() & r.u64() & r.u64() & 0xffffffff for _ in range(n)]
        if kind == 0 and name == 'subgroup_min':  # the identity must not win
            return [wrap(t, limits(t)[1] - r.below(9)) for _ in range(n)]
        if kind == 0 and name == 'subgroup_max':
            return [wrap(t, limits(t)[0] + r.below(9)) for _ in range(n)]
        return [r.bits(w) for _ in range(n)]
    eb, mb = FMT[t]
    bias = (1 << (eb - 1)) - 1
    sign = 1 << (eb + mb)
    if name in ('subgroup_min', 'subgroup_max'):
        if kind == 0:
            return [r.pick([0, sign, NAN[t], inf_bits(t) | 1]) for _ in range(n)]
        if kind == 1:
            return [NAN[t] | r.below(99) for _ in range(n)]
        return [r.pick([rand_float(r, t), rand_float(r, t), rand_float(r, t),
                        NAN[t], inf_bits(t) | r.below(2) * sign]) for _ in range(n)]
    if kind == 0:  # -0.0 only: the identity of float add is -0.0, not 0
        return [sign] * n
    if kind == 1:  # with an infinity or a NaN
        v = [rand_float(r, t, bias + r.range(-4, 4)) for _ in range(n)]
        v[r.below(n)] = r.pick([inf_bits(t), inf_bits(t) | sign, NAN[t]])
        return v
    # full mantissas, like magnitudes, both signs: another order gives other bits
    return [make_float(t, r.below(2), bias + r.range(-3, 3), r.u64()) for _ in range(n)]


def table_subgroup():
    for name, t in SUBGROUP:
        for S in (1, 2, 4, 8, 16, 32, 64):
            r = Rng(name, t, str(S))
            # (N, kind of values)
            if S == 1:
                plan = [(1, 0), (1, 2), (1, 3)]
            elif S >= 32 and width(t) == 64:
                plan = [(S // 2 + 5, 2), (7, 0)]
                if (name, t) == ('subgroup_add', 'f64'):
                    plan += [(S, 2)]
            elif S == 2:
                plan = [(2, 0), (1, 0), (2, 2), (2, 2), (1, 2), (2, 1)]
            elif S == 16:
                plan = [(15, 0), (S, 2), (9, 1), (11, 2)]
            elif S <= 8:
                plan = [(S - 1, 0), (S, 2), (S // 2 + 1, 1), (S // 2 + 1, 2), (S // 2, 2),
                        (S - 1, 2), (1, 2)]
            elif S == 32:
                plan = [(S, 2), (r.range(17, 30), 2), (5, 0), (6, 1)]
            else:
                plan = [(S, 2), (r.range(33, 50), 2), (6, 0)]
            for n, kind in plan:
                vals = subgroup_values(r, name, t, n, kind)
                res = subgroup(name, t, S, vals)
                rt = 'u64' if name == 'subgroup_ballot' else t
                yield ' '.join([name, t, 'S=%d' % S, 'N=%d' % n] + [hexs(t, v) for v in vals]
                               + ['='] + [hexs(rt, v) for v in res])


TABLES = [('integer.tbl', table_integer), ('bool.tbl', table_bool), ('float.tbl', table_float),
          ('cast.tbl', table_cast), ('storage.tbl', table_storage),
          ('functions.tbl', table_functions), ('subgroup.tbl', table_subgroup)]


# ---------------------------------------------------------------- the second opinion
# Reads lines as text, and shares nothing with the code above but names of types.

_libm = ctypes.CDLL(ctypes.util.find_library('m') or 'libm.so.6')
_libm.fma.restype = ctypes.c_double
_libm.fma.argtypes = [ctypes.c_double] * 3
_libm.fmaf.restype = ctypes.c_float
_libm.fmaf.argtypes = [ctypes.c_float] * 3


def b2_float(t, text):
    n = int(text, 16)
    if t == 'f32':
        return ctypes.c_float.from_buffer_copy(n.to_bytes(4, 'little')).value
    return ctypes.c_double.from_buffer_copy(n.to_bytes(8, 'little')).value


def b2_text(t, x):
    """Text of a Python float that t holds exactly."""
    if x != x:
        return {'f32': '7fc00000', 'f64': '7ff8000000000000'}[t]
    return struct.pack('>f' if t == 'f32' else '>d', x).hex()


def second_int(op, t, a):
    w = int(t[1:])
    sgn = t[0] == 'i'
    c = {8: ctypes.c_int8, 16: ctypes.c_int16, 32: ctypes.c_int32, 64: ctypes.c_int64} if sgn \
        else {8: ctypes.c_uint8, 16: ctypes.c_uint16, 32: ctypes.c_uint32, 64: ctypes.c_uint64}
    c = c[w]
    s = [format(int(x, 16), '0%db' % w) for x in a]  # bit strings, highest first

    def num(bits):
        return int(bits, 2) - (int(bits[0]) << w if sgn else 0)

    def out(n):
        return (c(n).value + (1 << w) * (c(n).value < 0)).to_bytes(w // 8, 'big').hex()

    def bits_out(b):
        assert len(b) == w
        return int(b, 2).to_bytes(w // 8, 'big').hex()

    if op == 'extract':
        off, n = min(int(a[1], 16), w), int(a[2], 16)
        low = s[0][::-1][off:off + n]  # lowest first; slicing stops at the width
        fill = low[-1] if sgn and low else '0'
        return bits_out((low + fill * w)[:w][::-1])
    if op == 'insert':
        off, n = min(int(a[2], 16), w), int(a[3], 16)
        v, x = list(s[0][::-1]), s[1][::-1]
        for i in range(min(n, w)):
            if off + i < w:
                v[off + i] = x[i]
        return bits_out(''.join(v)[::-1])
    if op == 'select':
        return a[1] if a[0] == '1' else a[2]
    x = num(s[0])
    y = num(s[1]) if len(s) > 1 else None
    k = int(s[1][-(w.bit_length() - 1):], 2) if len(s) > 1 else 0  # amount mod w
    if op in ('eq', 'ne', 'lt', 'le', 'gt', 'ge'):
        # order of bit strings; the sign bit flipped for signed types
        f = [('10'[int(b[0])] if sgn else b[0]) + b[1:] for b in s]
        return '%d' % {'eq': f[0] == f[1], 'ne': f[0] != f[1], 'lt': f[0] < f[1],
                       'le': f[0] <= f[1], 'gt': f[0] > f[1], 'ge': f[0] >= f[1]}[op]
    if op == 'add':
        return out(c(x).value - ~y - 1)
    if op == 'sub':
        return out(x + ~y + 1)
    if op == 'mul':
        return out(sum(x << i for i in range(w) if s[1][w - 1 - i] == '1'))
    if op in ('div', 'rem', 'ceil_div') and y == 0:
        return {'div': '0' if sgn else 'f', 'rem': '0', 'ceil_div': '0' if sgn else 'f'}[op] * (w // 4)
    if op == 'div':
        return out(int(gmpy2.t_div(x, y)))
    if op == 'rem':
        return out(int(gmpy2.t_mod(x, y)))
    if op == 'ceil_div':
        return out(int(gmpy2.c_div(x, y)))
    if op in ('and', 'or', 'xor'):
        table = {'and': '0001', 'or': '0111', 'xor': '0110'}[op]
        return bits_out(''.join(table[int(p + q, 2)] for p, q in zip(*s)))
    if op == 'not':
        return bits_out(s[0].translate({48: 49, 49: 48}))
    if op == 'shl':
        return bits_out((s[0] + '0' * k)[-w:])
    if op == 'shr':
        return bits_out(((s[0][0] if sgn else '0') * k + s[0])[:w])
    if op == 'rotl':
        return bits_out(s[0][k:] + s[0][:k])
    if op == 'rotr':
        return bits_out(s[0][w - k:] + s[0][:w - k])
    if op == 'neg':
        return out(~x + 1)
    if op == 'abs':
        return out(~x + 1) if s[0][0] == '1' and sgn else a[0]
    if op in ('min', 'max'):
        return out(sorted([x, y])[0 if op == 'min' else 1])
    if op == 'clamp':
        z = num(s[2])
        return out(z if z < (y if x < y else x) else (y if x < y else x))
    if op == 'mulhi':
        h = (int(s[0], 2) * int(s[1], 2)).to_bytes(w // 4, 'big')[:w // 8]
        h = int.from_bytes(h, 'big')
        if sgn:  # signed from unsigned: subtract the other where an operand is negative
            h -= (int(s[1], 2) if s[0][0] == '1' else 0) + (int(s[0], 2) if s[1][0] == '1' else 0)
        return out(h)
    if op in ('sat_add', 'sat_sub'):
        r = x + y if op == 'sat_add' else x - y
        low, high = ('8' + '0' * (w // 4 - 1), '7' + 'f' * (w // 4 - 1)) if sgn else \
            ('0' * (w // 4), 'f' * (w // 4))
        return out(r) if c(r).value == r else low if r < 0 else high
    if op == 'clz':
        return out(len(s[0]) - len(s[0].lstrip('0')))
    if op == 'ctz':
        return out(len(s[0]) - len(s[0].rstrip('0')))
    if op == 'popcount':
        return out(s[0].count('1'))
    if op == 'reverse_bits':
        return bits_out(s[0][::-1])
    raise AssertionError(op)


def second_minmax(op, x, y):
    if x != x or y != y:
        return y if x != x else x
    k = sorted([x, y], key=lambda v: (v, math.copysign(1, v)))
    return k[0] if op == 'min' else k[1]


def second_float(op, t, a):
    if op == 'select':
        return b2_text(t, b2_float(t, a[1] if a[0] == '1' else a[2]))
    x = [b2_float(t, b) for b in a]
    if op in ('eq', 'ne', 'lt', 'le', 'gt', 'ge'):
        return '%d' % getattr(x[0], '__%s__' % op)(x[1])
    if op == 'is_nan':
        return '%d' % math.isnan(x[0])
    if op == 'is_inf':
        return '%d' % math.isinf(x[0])
    if op in ('min', 'max'):
        return b2_text(t, second_minmax(op, *x))
    if op == 'clamp':
        return b2_text(t, second_minmax('min', second_minmax('max', x[0], x[1]), x[2]))
    if op in ('neg', 'abs'):
        return b2_text(t, -x[0] if op == 'neg' else math.fabs(x[0]))
    if op in ('floor', 'ceil', 'round', 'trunc'):
        if not math.isfinite(x[0]):
            return b2_text(t, x[0])
        f = {'floor': math.floor, 'ceil': math.ceil, 'round': round, 'trunc': math.trunc}[op]
        return b2_text(t, math.copysign(float(f(x[0])), x[0]))
    gmpy2.set_context(WORK[t])
    ctx = gmpy2.get_context()
    m = [gmpy2.mpfr(v) for v in x]
    for u, v in zip(m, x):
        assert v != v or float(u) == v
    if op == 'rsqrt':
        r = ctx.div(gmpy2.mpfr(1), ctx.sqrt(m[0]))
    else:
        r = getattr(ctx, {'add': 'add', 'sub': 'sub', 'mul': 'mul', 'div': 'div', 'fma': 'fma',
                          'sqrt': 'sqrt'}[op])(*m)
    res = b2_text(t, float(r))
    # and the machine itself
    if op == 'fma':
        hw = b2_text(t, (_libm.fmaf if t == 'f32' else _libm.fma)(*x))
    elif t == 'f64' and op in ('add', 'sub', 'mul', 'sqrt', 'div'):
        try:
            hw = b2_text(t, {'add': lambda: x[0] + x[1], 'sub': lambda: x[0] - x[1],
                             'mul': lambda: x[0] * x[1], 'div': lambda: x[0] / x[1],
                             'sqrt': lambda: math.sqrt(x[0])}[op]())
        except (ZeroDivisionError, ValueError):
            hw = res
    elif t == 'f32' and op in ('add', 'sub', 'mul'):  # innocuous double rounding (53 >= 2*24+2)
        d = {'add': lambda: x[0] + x[1], 'sub': lambda: x[0] - x[1],
             'mul': lambda: x[0] * x[1]}[op]()
        hw = b2_text(t, ctypes.c_float(d).value)
    else:
        hw = res
    assert hw == res, (op, t, a, hw, res)
    return res


def second_cast(src, dst, a):
    if src[0] == 'f':
        x = b2_float(src, a)
        if dst == 'bool':
            return '%d' % (x != 0.0)
        if dst[0] == 'f':
            return b2_text(dst, ctypes.c_float(x).value if dst == 'f32' else x)
        w = int(dst[1:])
        if x != x:
            return '0' * (w // 4)
        edge = 2.0 ** (w - (dst[0] == 'i'))  # exact
        if x >= edge:
            return ('7' if dst[0] == 'i' else 'f') + 'f' * (w // 4 - 1)
        if x < (-edge if dst[0] == 'i' else 0.0):
            return ('8' if dst[0] == 'i' else '0') + '0' * (w // 4 - 1)
        return int(x).to_bytes(w // 8, 'big', signed=dst[0] == 'i').hex()
    n = int(a, 16) if src == 'bool' else \
        int.from_bytes(bytes.fromhex(a), 'big', signed=src[0] == 'i')
    if dst == 'bool':
        return '%d' % bool(n)
    if dst == 'f64':
        return b2_text('f64', float(n))
    if dst == 'f32':
        gmpy2.set_context(WORK['f32'])
        return b2_text('f32', float(gmpy2.mpfr(n)))
    w = int(dst[1:])
    return (n.to_bytes(16, 'big', signed=True)[-(w // 8):]).hex()


def second_load(op, a):
    n = int(a, 16)
    if op == 'load_f16':
        return b2_text('f32', struct.unpack('<e', struct.pack('<H', n))[0])
    return b2_text('f32', b2_float('f32', a + '0000'))


def second_store(op, a):
    x = b2_float('f32', a)
    if op == 'store_f16':
        if x != x:
            return '7e00'
        try:
            return struct.pack('>e', x).hex()
        except OverflowError:
            return 'fc00' if x < 0 else '7c00'
    if x != x:
        return '7fc0'
    n = int(a, 16)
    return '%04x' % ((n + 0x7fff + (n >> 16 & 1)) >> 16)


def second_function(op, a):
    x = [b2_float('f32', b) for b in a]
    gmpy2.set_context(WORK['f32'])
    ctx = gmpy2.get_context()
    m = [gmpy2.mpfr(v) for v in x]
    r = float(getattr(ctx, op)(*m))
    res = b2_text('f32', r)
    # the C library in double precision must be within one f32 ulp
    if r == r and abs(r) != math.inf and r != 0:
        try:
            f = {'exp2': lambda v: math.pow(2.0, v)}.get(op) or getattr(math, op)
            d = f(*x)
            d = ctypes.c_float(d).value
            assert abs(int(b2_text('f32', d), 16) - int(res, 16)) <= 1, (op, a, d, r)
        except (OverflowError, ValueError):
            raise AssertionError((op, a, r))
    return res


ANNEX_F = """
exp 00000000 3f800000|exp 80000000 3f800000|exp 7f800000 7f800000|exp ff800000 00000000
exp2 00000000 3f800000|exp2 7f800000 7f800000|exp2 ff800000 00000000
log 3f800000 00000000|log 00000000 ff800000|log 80000000 ff800000|log bf800000 7fc00000
log 7f800000 7f800000|log ff800000 7fc00000|log2 3f800000 00000000|log2 80000000 ff800000
log2 ff800000 7fc00000|log2 7f800000 7f800000|log2 00000000 ff800000|log2 bf800000 7fc00000
sin 00000000 00000000|sin 80000000 80000000|sin 7f800000 7fc00000|sin ff800000 7fc00000
cos 00000000 3f800000|cos 80000000 3f800000|cos 7f800000 7fc00000|tan 80000000 80000000
tan 00000000 00000000|tan 7f800000 7fc00000|tanh 80000000 80000000|tanh 7f800000 3f800000
tanh ff800000 bf800000|tanh 00000000 00000000
pow 3f800000 7fc00000 3f800000|pow 7fc00000 00000000 3f800000|pow 7fc00000 80000000 3f800000
pow bf800000 7f800000 3f800000|pow bf800000 ff800000 3f800000|pow 80000000 c0400000 ff800000
pow 00000000 c0400000 7f800000|pow 80000000 c0000000 7f800000|pow 80000000 ff800000 7f800000
pow 80000000 40400000 80000000|pow 80000000 40000000 00000000|pow bf800000 3f000000 7fc00000
pow 80000000 3f000000 00000000|pow 80000000 bf000000 7f800000
pow 3f000000 ff800000 7f800000|pow 40000000 ff800000 00000000|pow bf000000 7f800000 00000000
pow c0000000 7f800000 7f800000|pow ff800000 c0400000 80000000|pow ff800000 c0000000 00000000
pow ff800000 40400000 ff800000|pow ff800000 40000000 7f800000|pow ff800000 3f000000 7f800000
pow 7f800000 bf800000 00000000|pow 7f800000 3f800000 7f800000|pow 7fc00000 3f800000 7fc00000
pow ff800000 bf000000 00000000|pow 40000000 7fc00000 7fc00000
atan2 00000000 80000000 40490fdb|atan2 80000000 80000000 c0490fdb|atan2 00000000 00000000 00000000
atan2 80000000 00000000 80000000|atan2 00000000 bf800000 40490fdb|atan2 80000000 bf800000 c0490fdb
atan2 80000000 3f800000 80000000|atan2 bf800000 00000000 bfc90fdb|atan2 3f800000 80000000 3fc90fdb
atan2 3f800000 ff800000 40490fdb|atan2 bf800000 7f800000 80000000|atan2 7f800000 bf800000 3fc90fdb
atan2 7f800000 ff800000 4016cbe4|atan2 ff800000 ff800000 c016cbe4|atan2 7f800000 7f800000 3f490fdb
atan2 ff800000 7f800000 bf490fdb|atan2 7fc00000 3f800000 7fc00000|atan2 00000000 7fc00000 7fc00000
"""


def second_subgroup(name, t, S, N, vals):
    op = name[len('subgroup_'):]
    if op == 'ballot':
        text = ''.join(reversed(vals)).rjust(64, '0')
        return ['%016x' % int(text, 2)] * N

    def f(a, b):
        if t[0] == 'f':
            return second_float(op if op != 'scan_add' else 'add', t, [a, b])
        return second_int(op if op != 'scan_add' else 'add', t, [a, b])

    if op == 'scan_add':
        # v after the step d covers the 2d lanes up to i: (older half) + (newer half)
        def cover(i, d):  # value of lane i after all steps below d
            if d == 1:
                return vals[i]
            h = d // 2
            return cover(i, h) if i < h else f(cover(i - h, h), cover(i, h))
        zero = '0' * len(vals[0])
        fix = (lambda v: b2_text(t, b2_float(t, v))) if t[0] == 'f' else (lambda v: v)
        return [zero] + [fix(cover(i, S)) for i in range(N - 1)]

    w = int(t[1:])
    ident = {'add': '8' + '0' * (w // 4 - 1) if t[0] == 'f' else '0' * (w // 4),
             'or': '0' * (w // 4), 'xor': '0' * (w // 4), 'and': 'f' * (w // 4),
             'min': {'i': '7' + 'f' * (w // 4 - 1), 'u': 'f' * (w // 4)}.get(t[0]),
             'max': {'i': '8' + '0' * (w // 4 - 1), 'u': '0' * (w // 4)}.get(t[0])}[op]
    if ident is None:
        ident = '7fc00000' if w == 32 else '7ff8000000000000'

    # a butterfly with d = S/2 first combines lanes of equal i mod d: a tree whose
    # leaves are in bit-reversed order; floats commute, so that every lane has the same
    def tree(first, step):
        if step == S:
            return vals[first] if first < N else ident
        return f(tree(first, 2 * step), tree(first + step, 2 * step))
    r = tree(0, 1)
    if t[0] == 'f':
        r = b2_text(t, b2_float(t, r))
    return [r] * N


def second(text):
    left, right = text.split(' = ')
    w = left.split(' ')
    op = w[0]
    if op.startswith('subgroup_'):
        S, N = int(w[2][2:]), int(w[3][2:])
        vals = w[4:]
        assert len(vals) == N <= S and len(right.split(' ')) == N
        return ' '.join(second_subgroup(op, w[1], S, N, vals))
    if op.startswith('load_'):
        return second_load(op, w[1])
    if op.startswith('store_'):
        return second_store(op, w[1])
    if op == 'cast':
        return second_cast(*w[1:])
    if op == 'bitcast':
        r = w[3]
        for t in w[1:3]:
            if t[0] == 'f':
                r = b2_text(t, b2_float(t, r))
        return r
    if op in FUNC1 + FUNC2:
        return second_function(op, w[2:])
    if w[1] == 'bool':
        v = [x == '1' for x in w[2:]]
        return '%d' % {'eq': lambda p, q: p is q, 'ne': lambda p, q: p is not q,
                       'and': lambda p, q: p and q, 'or': lambda p, q: p or q,
                       'xor': lambda p, q: p != q, 'not': lambda p: not p,
                       'select': lambda c, p, q: p if c else q}[op](*v)
    return (second_float if w[1][0] == 'f' else second_int)(op, w[1], w[2:])


def known_answers(lines):
    """Spot checks written down by hand from docs/specification.md and Annex F."""
    for text in ['add u8 ff 01 = 00', 'div i32 80000000 ffffffff = 80000000',
                 'rem i32 80000000 ffffffff = 00000000', 'div u16 0001 0000 = ffff',
                 'div i64 0000000000000001 0000000000000000 = 0000000000000000',
                 'ceil_div u32 ffffffff 00000002 = 80000000', 'ceil_div i8 80 ff = 80',
                 'abs i8 80 = 80', 'clz u8 00 = 08', 'ctz i64 0000000000000000 = 0000000000000040',
                 'shl u32 00000001 00000020 = 00000001', 'lt f32 7fc00000 00000000 = 0',
                 'ne f32 7fc00000 7fc00000 = 1', 'min f32 00000000 80000000 = 80000000',
                 'max f32 80000000 00000000 = 00000000', 'min f32 7fc00000 3f800000 = 3f800000',
                 'cast f32 i64 7f800000 = 7fffffffffffffff', 'cast f32 bool 7fc00000 = 1',
                 'cast f32 i32 7fc00000 = 00000000', 'rsqrt f32 80000000 = ff800000',
                 'load_f16 0001 = 33800000', 'store_f16 7f800001 = 7e00',
                 'bitcast f32 u32 ffd23456 = 7fc00000', 'exp2 f32 c3160000 = 00000000']:
        assert text in lines, text
    for case in ANNEX_F.replace('\n', '|').split('|'):
        if case:
            w = case.split()
            assert '%s f32 %s = %s' % (w[0], ' '.join(w[1:-1]), w[-1]) in lines, case


def main(args):
    if args not in ([], ['--check']):
        print(__doc__)
        return 2
    check = bool(args)
    made = {}
    for name, table in TABLES:
        seen = {}
        for text in table():
            seen[text] = None  # in order, each once
        made[name] = list(seen)
    for name, lines in made.items():
        for text in lines:
            other = second(text)
            if other != text.split(' = ')[1]:
                sys.exit('%s: second opinion differs: %s   (%s)' % (name, text, other))
    known_answers(set(x for lines in made.values() for x in lines))
    bad = 0
    for name, lines in made.items():
        path = os.path.join(HERE, name)
        data = '\n'.join(lines) + '\n'
        if check:
            try:
                with open(path) as f:
                    have = f.read()
            except FileNotFoundError:
                have = ''
            if have != data:
                bad = 1
                old = have.split('\n')
                new = data.split('\n')
                for i in range(max(len(old), len(new))):
                    o = old[i] if i < len(old) else '(nothing)'
                    n = new[i] if i < len(new) else '(nothing)'
                    if o != n:
                        print('%s:%d: file has\n  %s\nexpected\n  %s' % (name, i + 1, o, n))
                        break
        else:
            with open(path, 'w') as f:
                f.write(data)
        print('%-14s %6d lines %8d bytes' % (name, len(lines), len(data)))
    if check:
        print('DIFFERENT' if bad else 'all tables are as computed')
    return bad


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
