#!/usr/bin/env python3
"""Writes the litmus tests of this folder and `expected.txt`: all outcomes of each under sequential consistency.

The outcomes come from the interleavings of the threads' instructions, gone through here one by one; nothing of the code
under test takes part. Run it after a change here; what it writes is kept in the repository.
"""
import itertools
from pathlib import Path

HERE = Path(__file__).parent
# An order of memory accesses: how a store and a load of it are written.
ORDERS = {
    "weak": ("st.weak", "ld.weak"),
    "relaxed": ("st.relaxed.gpu", "ld.relaxed.gpu"),
    "released": ("st.release.gpu", "ld.acquire.gpu"),
    "block": ("st.release.cta", "ld.acquire.cta"),
}


def st(x, v):
    return ("st", x, v)


def ld(r, x):
    return ("ld", r, x)


def fence(kind="sc"):
    return ("fence", kind)


def rmw(op, r, x, *v):
    return ("rmw", op, r, x, v)


# Threads are lists of accesses; the last item is what the condition asks: registers "thread:register" and locations.
SHAPES = {
    "SB": ([[st("x", 1), ld("r0", "y")], [st("y", 1), ld("r0", "x")]], {"0:r0": 0, "1:r0": 0}),
    "MP": ([[st("x", 1), st("y", 1)], [ld("r0", "y"), ld("r1", "x")]], {"1:r0": 1, "1:r1": 0}),
    "LB": ([[ld("r0", "x"), st("y", 1)], [ld("r0", "y"), st("x", 1)]], {"0:r0": 1, "1:r0": 1}),
    "S": ([[st("x", 2), st("y", 1)], [ld("r0", "y"), st("x", 1)]], {"1:r0": 1, "x": 2}),
    "R": ([[st("x", 1), st("y", 1)], [st("y", 2), ld("r0", "x")]], {"y": 2, "1:r0": 0}),
    "2+2W": ([[st("x", 1), st("y", 2)], [st("y", 1), st("x", 2)]], {"x": 1, "y": 1}),
    "WRC": ([[st("x", 1)], [ld("r0", "x"), st("y", 1)], [ld("r0", "y"), ld("r1", "x")]],
            {"1:r0": 1, "2:r0": 1, "2:r1": 0}),
    "RWC": ([[st("x", 1)], [ld("r0", "x"), ld("r1", "y")], [st("y", 1), ld("r0", "x")]],
            {"1:r0": 1, "1:r1": 0, "2:r0": 0}),
    "WWC": ([[st("x", 2)], [ld("r0", "x"), st("y", 1)], [ld("r0", "y"), st("x", 1)]], {"1:r0": 2, "2:r0": 1, "x": 2}),
    "ISA2": ([[st("x", 1), st("y", 1)], [ld("r0", "y"), st("z", 1)], [ld("r0", "z"), ld("r1", "x")]],
             {"1:r0": 1, "2:r0": 1, "2:r1": 0}),
    "IRIW": ([[st("x", 1)], [st("y", 1)], [ld("r0", "x"), ld("r1", "y")], [ld("r0", "y"), ld("r1", "x")]],
             {"2:r0": 1, "2:r1": 0, "3:r0": 1, "3:r1": 0}),
    "CoRR": ([[st("x", 1)], [ld("r0", "x"), ld("r1", "x")]], {"1:r0": 1, "1:r1": 0}),
    "CoWR": ([[st("x", 1), ld("r0", "x")], [st("x", 2)]], {"0:r0": 2, "x": 1}),
    "CoRW": ([[ld("r0", "x"), st("x", 1)], [st("x", 2)]], {"0:r0": 2, "x": 2}),
}
PLAIN = ("SB", "MP", "LB", "S", "R", "2+2W", "WRC", "RWC", "WWC", "ISA2", "IRIW", "CoRR", "CoWR", "CoRW")


def fenced(threads):
    return [list(itertools.chain.from_iterable((i, fence()) for i in t))[:-1] for t in threads]


def tests():
    for name in PLAIN:
        threads, asked = SHAPES[name]
        yield f"{name}-weak", "weak", threads, asked
        if name in ("SB", "MP", "LB", "S", "R", "2+2W", "WRC", "ISA2", "IRIW", "CoRR"):
            yield f"{name}-relaxed", "relaxed", threads, asked
        if name in ("MP", "LB", "S", "WRC", "ISA2", "IRIW"):
            yield f"{name}-released", "released", threads, asked
        if name in ("SB", "MP", "R", "2+2W", "RWC", "IRIW"):
            yield f"{name}-fences", "relaxed", fenced(threads), asked
    yield "MP-block", "block", *SHAPES["MP"]
    yield "add-twice", "relaxed", [[rmw("add", "r0", "x", 1)], [rmw("add", "r0", "x", 1)]], {"x": 1}
    yield "add-thrice", "relaxed", [[rmw("add", "r0", "x", 1)] for _ in range(3)], {"x": 3, "0:r0": 2}
    yield "lost-update", "weak", [[("inc", "r0", "x")], [("inc", "r0", "x")]], {"x": 1}
    yield "exchange-one-wins", "relaxed", [[rmw("exch", "r0", "x", 1)], [rmw("exch", "r0", "x", 2)]], {"0:r0": 0, "1:r0": 0}
    yield "cas-one-wins", "relaxed", [[rmw("cas", "r0", "x", 0, 1)], [rmw("cas", "r0", "x", 0, 2)]], {"0:r0": 0, "1:r0": 0}
    yield "cas-after-add", "relaxed", [[rmw("add", "r0", "x", 1)], [rmw("cas", "r0", "x", 1, 7)]], {"x": 7}
    yield "or-bits", "relaxed", [[rmw("or", "r0", "x", 1)], [rmw("or", "r0", "x", 2)]], {"x": 3}
    yield "MP-through-add", "relaxed", [[st("x", 1), rmw("add", "r0", "y", 1)], [rmw("add", "r0", "y", 0), ld("r1", "x")]], {"1:r0": 1, "1:r1": 0}
    yield "SB-through-exchange", "relaxed", [[rmw("exch", "r1", "x", 1), ld("r0", "y")], [rmw("exch", "r1", "y", 1), ld("r0", "x")]], {"0:r0": 0, "1:r0": 0}


def text_of(instr, order):
    store, load = ORDERS[order]
    match instr:
        case ("st", x, v):
            return [f"{store} {x}, {v}"]
        case ("ld", r, x):
            return [f"{load} {r}, {x}"]
        case ("fence", kind):
            return [f"fence.{kind}.gpu"]
        case ("inc", r, x):
            return [f"{load} {r}, {x}", f"add {r}, {r}, 1", f"{store} {x}, {r}"]
        case ("rmw", op, r, x, v):
            return [f"atom.relaxed.gpu.{op} {r}, {x}, {', '.join(map(str, v))}"]


def steps(thread):
    """The accesses that interleave, as functions of memory and the thread's registers."""
    out = []
    for instr in thread:
        match instr:
            case ("st", x, v):
                out.append(lambda m, r, x=x, v=v: m.__setitem__(x, v))
            case ("ld", d, x):
                out.append(lambda m, r, x=x, d=d: r.__setitem__(d, m[x]))
            case ("inc", d, x):
                out.append(lambda m, r, x=x, d=d: r.__setitem__(d, m[x] + 1))
                out.append(lambda m, r, x=x, d=d: m.__setitem__(x, r[d]))
            case ("rmw", op, d, x, v):
                def act(m, r, op=op, d=d, x=x, v=v):
                    old = m[x]
                    r[d] = old
                    m[x] = {"add": lambda: old + v[0], "or": lambda: old | v[0], "exch": lambda: v[0],
                            "cas": lambda: v[1] if old == v[0] else old}[op]()
                out.append(act)
            case ("fence", _):
                out.append(lambda m, r: None)
    return out


def outcomes(threads, locations, places):
    code = [steps(t) for t in threads]
    found = set()

    def go(counts, memory, registers):
        if all(c == len(t) for c, t in zip(counts, code)):
            value = lambda p: registers[int(p.split(":")[0])].get(p.split(":")[1], 0) if ":" in p else memory[p]
            found.add(tuple(value(p) for p in places))
        for k, thread in enumerate(code):
            if counts[k] < len(thread):
                m, r = dict(memory), [dict(x) for x in registers]
                thread[counts[k]](m, r[k])
                go(counts[:k] + (counts[k] + 1,) + counts[k + 1:], m, r)
    go((0,) * len(code), {x: 0 for x in locations}, [{} for _ in code])
    return sorted(found)


def write(name, order, threads, asked):
    locations = sorted({i[1] if i[0] == "st" else i[2] if i[0] in ("ld", "inc") else i[3] for t in threads for i in t if i[0] != "fence"})
    registers = sorted({f"{k}:{i[1] if i[0] != 'rmw' else i[2]}" for k, t in enumerate(threads) for i in t if i[0] in ("ld", "inc", "rmw")})
    places = locations + registers
    columns = [[f"P{k}@cta {0 if order == 'block' else k},gpu 0"] + [s for i in t for s in text_of(i, order)] for k, t in enumerate(threads)]
    height = max(map(len, columns))
    width = [max(map(len, c)) for c in columns]
    rows = [" | ".join((c[i] if i < len(c) else "").ljust(w) for c, w in zip(columns, width)) + " ;" for i in range(height)]
    init = " ".join(f"{x}=0;" for x in locations) + " " + " ".join(f"P{r}=0;" for r in registers)
    condition = " /\\ ".join(f"{p} == {v}" for p, v in asked.items())
    listed = "; ".join(f"P{p}" if ":" in p else p for p in places)
    text = f"PTX {name}\n{{ {init} }}\n" + "\n".join(rows) + f"\nlocations [{listed}]\nexists ({condition})\n"
    (HERE / f"{name}.litmus").write_text(text)
    found = outcomes(threads, locations, places)
    holds = any(all(o[places.index(p)] == v for p, v in asked.items()) for o in found)
    shown = " ".join(",".join(map(str, o)) for o in found)
    return f"{name} | {'reachable' if holds else 'unreachable'} | {shown}"


lines = [write(*test) for test in tests()]
(HERE / "expected.txt").write_text("\n".join(lines) + "\n")
print(len(lines), "tests")
