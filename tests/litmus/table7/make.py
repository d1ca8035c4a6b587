#!/usr/bin/env python3
"""Writes the litmus tests of this folder, `table7.csv` and `verdicts.csv`: the synchronisation primitives of Table 7 in
"Towards Unified Analysis of GPU Consistency", each row in Vulkan and in PTX.

    make.py            writes the files
    make.py --check    changes nothing; exit code 1 and a line for each file that differs, lacks or is too many

A row is a primitive, a weakening and a grid X.Y: X threads a workgroup, Y workgroups. The locks: every thread takes the lock
once and increments a plain location. The barrier: every thread writes a cell of its own, meets all others, and reads all
cells. Verdicts are what the paper says of the row ("correct" or not); which property fails follows from the models' rules and
is written here by hand, in ROWS.
"""
import sys
from pathlib import Path

HERE = Path(__file__).parent
PTX_MODELS = ("ptx-v6.0", "ptx-v7.5")

# What a weakening is, by primitive: the places whose order or scope it takes away, and what happens then.
LOCKED = {
    "": "taking the lock acquires, giving it back releases, both for the whole device",
    "acq2rx": "taking the lock is relaxed: reads of the critical section may be older than the lock",
    "rel2rx": "giving the lock back is relaxed: the next owner may miss the increment",
    "dv2wg": "the lock's operations are for one workgroup only",
}
WEAKENED = {
    "xf-barrier": {
        "": "flags are released and acquired for the whole device",
        "acq2rx-1": "leaders read the followers' flags relaxed: what followers wrote may be missed",
        "acq2rx-2": "representatives read the leader's flag relaxed: followers may miss what others wrote",
        "rel2rx-1": "leaders answer relaxed: followers may miss what others wrote",
        "rel2rx-2": "representatives set their flag relaxed: what followers wrote may be missed",
    },
    "caslock": LOCKED,
    "ttaslock": LOCKED,
    "ticketlock": LOCKED,
}
# The table: primitive, weakening, threads a workgroup, workgroups, and which properties fail. Liveness of a lock for one
# workgroup that several use ("?") depends on what is said of reads beyond their scope, and has no row in `verdicts.csv`;
# that of the ticket lock fails either way, since tickets are given twice and the counter then jumps over a waiting one.
ROWS = [
    ("caslock", "", 2, 3, ""),
    ("caslock", "acq2rx", 4, 2, "safety race"),
    ("caslock", "rel2rx", 4, 2, "safety race"),
    ("caslock", "dv2wg", 4, 1, ""),
    ("caslock", "dv2wg", 4, 2, "safety race ?"),
    ("ticketlock", "", 2, 3, ""),
    ("ticketlock", "acq2rx", 4, 2, "safety race"),
    ("ticketlock", "rel2rx", 4, 2, "safety race"),
    ("ticketlock", "dv2wg", 4, 1, ""),
    ("ticketlock", "dv2wg", 4, 2, "safety race liveness"),
    ("ttaslock", "", 2, 2, ""),
    ("ttaslock", "acq2rx", 4, 2, "safety race"),
    ("ttaslock", "rel2rx", 4, 2, "safety race"),
    ("ttaslock", "dv2wg", 4, 1, ""),
    ("ttaslock", "dv2wg", 4, 2, "safety race ?"),
    ("xf-barrier", "", 3, 3, ""),
    ("xf-barrier", "acq2rx-1", 2, 2, "safety race"),
    ("xf-barrier", "acq2rx-2", 2, 2, "safety race"),
    ("xf-barrier", "rel2rx-1", 2, 2, "safety race"),
    ("xf-barrier", "rel2rx-2", 2, 2, "safety race"),
]


class Ptx:
    """How PTX's tests write an access. Orders: "" relaxed, "acq", "rel". Scopes: "dv", "wg"."""

    name = "PTX"
    ORDER = {"": "relaxed", "acq": "acquire", "rel": "release"}
    SCOPE = {"dv": "gpu", "wg": "cta"}

    def strong(self, order, scope):
        return f"{self.ORDER[order]}.{self.SCOPE[scope]}"

    def thread(self, k, width):
        return f"P{k}@cta {k // width},gpu 0"

    def load(self, r, x, order, scope):
        return f"ld.{self.strong(order, scope)} {r}, {x}"

    def store(self, x, v, order, scope):
        return f"st.{self.strong(order, scope)} {x}, {v}"

    def add(self, r, x, v, order, scope):
        return f"atom.{self.strong(order, scope)}.add {r}, {x}, {v}"

    def cas(self, r, x, old, new, order, scope):
        return f"atom.{self.strong(order, scope)}.cas.success {r}, {x}, {old}, {new}"

    def plain_load(self, r, x, **_):
        return f"ld.weak {r}, {x}"

    def plain_store(self, x, v, **_):
        return f"st.weak {x}, {v}"

    def barrier(self, instance):
        return f"bar.cta.sync {instance}"

    def counted(self, x, n):
        return [f"{x} == {n}"]


class Vulkan:
    """How Vulkan's tests write an access. An order is about storage class 0; a release makes available, an acquire visible,
    what its thread wrote or reads, unless the plain accesses do that themselves (`alone`)."""

    name = "VULKAN"

    def semantics(self, order):
        return {"": "", "acq": ".semsc0.semvis", "rel": ".semsc0.semav"}[order]

    def strong(self, order, scope):
        return f"atom{'.' if order else ''}{order}.{scope}.sc0{self.semantics(order)}"

    def thread(self, k, width):
        return f"P{k}@sg {k % width},wg {k // width},qf 0"

    def load(self, r, x, order, scope):
        return f"ld.{self.strong(order, scope)} {r}, {x}"

    def store(self, x, v, order, scope):
        return f"st.{self.strong(order, scope)} {x}, {v}"

    def add(self, r, x, v, order, scope):
        return f"rmw.{self.strong(order, scope)}.add {r}, {x}, {v}"

    def cas(self, r, x, old, new, order, scope):
        return f"rmw.{self.strong(order, scope)}.cas {r}, {x}, {old}, {new}"

    def plain_load(self, r, x, alone=False):
        return f"ld.{'vis.dv' if alone else 'nonpriv'}.sc0 {r}, {x}"

    def plain_store(self, x, v, alone=False):
        return f"st.{'av.dv' if alone else 'nonpriv'}.sc0 {x}, {v}"

    def barrier(self, instance):
        return f"cbar.acq_rel.wg.semsc0 {instance}"

    def counted(self, *_):
        # Vulkan's axioms do not tell which of several plain writes is the last one, even where each is seen by the next.
        return []


def critical(say):
    return [say.plain_load("r1", "x"), "add r2, r1, 1", say.plain_store("x", "r2")]


def caslock(say, k, acquire, release, scope):
    return [f"LC{k}0:", say.cas("r0", "l", 0, 1, acquire, scope), f"bne r0, 0, LC{k}0",
            *critical(say), say.store("l", 0, release, scope)]


def ttaslock(say, k, acquire, release, scope):
    return [f"LC{k}0:", say.load("r0", "l", "", scope), f"bne r0, 0, LC{k}0",
            say.cas("r0", "l", 0, 1, acquire, scope), f"bne r0, 0, LC{k}0",
            *critical(say), say.store("l", 0, release, scope)]


def ticketlock(say, k, acquire, release, scope):
    return [say.add("r0", "in", 1, "", scope),
            f"LC{k}0:", say.load("r3", "out", acquire, scope), f"bne r3, r0, LC{k}0",
            *critical(say), say.add("r3", "out", 1, release, scope)]


LOCKS = {"caslock": (caslock, ["l"]), "ttaslock": (ttaslock, ["l"]), "ticketlock": (ticketlock, ["in", "out"])}


def lock(say, primitive, weakening, width, groups):
    """Locations, threads and condition of a lock's test: that no two threads read the same number means that every increment
    counts."""
    code, words = LOCKS[primitive]
    acquire = "" if weakening == "acq2rx" else "acq"
    release = "" if weakening == "rel2rx" else "rel"
    scope = "wg" if weakening == "dv2wg" else "dv"
    count = width * groups
    threads = [code(say, k, acquire, release, scope) for k in range(count)]
    apart = [f"P{a}:r1 != P{b}:r1" for a in range(count) for b in range(a + 1, count)]
    return words + ["x"], threads, say.counted("x", count) + apart


def barrier(say, _, weakening, width, groups):
    """Locations, threads and condition of the barrier's test. Workgroup 0 leads: its thread n watches over workgroup n + 1,
    whose thread 0 is its representative."""
    order = {place: "" if weakening == place else place[:3]
             for place in ("acq2rx-1", "acq2rx-2", "rel2rx-1", "rel2rx-2")}
    count = width * groups
    threads = []
    for k in range(count):
        group, local = divmod(k, width)
        meet = [say.barrier(2 * group), say.barrier(2 * group + 1)]
        code = [say.plain_store(f"x{k}", 1, alone=True)]
        if group == 0:
            flag = f"f{local + 1}" if local + 1 < groups else None
            if flag:
                code += [f"LC{k}0:", say.load("r99", flag, order["acq2rx-1"], "dv"), f"beq r99, 0, LC{k}0"]
            code.append(meet[0])
            if flag:
                code.append(say.store(flag, 0, order["rel2rx-1"], "dv"))
        else:
            code.append(meet[0])
            if local == 0:
                code += [say.store(f"f{group}", 1, order["rel2rx-2"], "dv"),
                         f"LC{k}0:", say.load("r99", f"f{group}", order["acq2rx-2"], "dv"), f"beq r99, 1, LC{k}0"]
            code.append(meet[1])
        code += [say.plain_load(f"r{cell}", f"x{cell}", alone=True) for cell in range(count) if cell != k]
        threads.append(code)
    seen = [f"P{k}:r{cell} == 1" for k in range(count) for cell in range(count) if cell != k]
    return [f"f{g}" for g in range(1, groups)] + [f"x{k}" for k in range(count)], threads, seen


def wrapped(parts, joint, width=112):
    lines, line = [], ""
    for k, part in enumerate(parts):
        part += joint if k + 1 < len(parts) else ""
        if line and len(line) + len(part) > width:
            lines.append(line.rstrip())
            line = ""
        line += part
    return lines + [line]


def litmus(say, row):
    primitive, weakening, width, groups, _ = row
    build = barrier if primitive == "xf-barrier" else lock
    locations, threads, condition = build(say, primitive, weakening, width, groups)
    heads = [say.thread(k, width) for k in range(len(threads))]
    depth = max(map(len, threads))
    columns = [[head] + code + [""] * (depth - len(code)) for head, code in zip(heads, threads)]
    widths = [max(map(len, column)) for column in columns]
    rows = [" | ".join(cell.ljust(w) for cell, w in zip(cells, widths)).rstrip() + " ;" for cells in zip(*columns)]
    about = WEAKENED[primitive][weakening]
    return "\n".join([
        f"{say.name} {stem(row)}",
        f"\"{width} threads in each of {groups} workgroups; {about}\"" if groups > 1 else
        f"\"{width} threads in one workgroup; {about}\"",
        "{ " + " ".join(f"{x}=0;" for x in locations) + " }",
        *rows,
        "forall (" + "\n  ".join(wrapped(condition, " /\\ ")) + ")",
    ]) + "\n"


def label(row):
    return row[0] + (f"-{row[1]}" if row[1] else "")


def stem(row):
    return f"{label(row)}.{row[2]}.{row[3]}"


def tables():
    """`table7.csv`: a line for each row; `verdicts.csv`: a line for each question about a file. All loops are spins that write
    nothing until they end, so one turn shows all that any number of turns shows."""
    rows = ["row,grid,threads,correct,kind,vulkan,ptx,about"]
    verdicts = ["path,model,property,expected,bound,about"]
    for row in ROWS:
        fails = row[4].split()
        about = WEAKENED[row[0]][row[1]]
        kinds = " ".join(kind for kind in fails if kind != "?")
        files = {"vulkan": f"vulkan/{stem(row)}.litmus", "ptx": f"ptx/{stem(row)}.litmus"}
        correct = "no" if fails else "yes"
        rows.append(f"{label(row)},{row[2]}.{row[3]},{row[2] * row[3]},{correct},{kinds},{files['vulkan']},{files['ptx']},\"{about}\"")
        for folder, models in (("vulkan", ["vulkan"]), ("ptx", PTX_MODELS)):
            for model in models:
                for question, kind in (("safety", "safety"), ("drf", "race"), ("liveness", "liveness")):
                    if question == "liveness" and "?" in fails:
                        continue
                    expected = "fail" if kind in fails else "pass"
                    verdicts.append(f"{files[folder]},{model},{question},{expected},1,\"{label(row)} {row[2]}.{row[3]}\"")
    return "\n".join(rows) + "\n", "\n".join(verdicts) + "\n"


def files():
    made = {}
    for row in ROWS:
        made[f"vulkan/{stem(row)}.litmus"] = litmus(Vulkan(), row)
        made[f"ptx/{stem(row)}.litmus"] = litmus(Ptx(), row)
    made["table7.csv"], made["verdicts.csv"] = tables()
    return made


def main():
    made = files()
    if sys.argv[1:] == ["--check"]:
        there = {str(p.relative_to(HERE)) for p in HERE.rglob("*") if p.suffix in (".litmus", ".csv")}
        wrong = [f"{name}: not made by make.py" for name in sorted(there - made.keys())]
        for name, text in made.items():
            path = HERE / name
            if not path.exists() or path.read_text() != text:
                wrong.append(f"{name}: not as make.py makes it")
        print("\n".join(wrong), end="\n" if wrong else "")
        sys.exit(bool(wrong))
    for name, text in made.items():
        (HERE / name).parent.mkdir(exist_ok=True)
        (HERE / name).write_text(text)


main()
