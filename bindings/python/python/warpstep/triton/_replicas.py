r"""Reads of replicas: what Triton has threads read whose value they do not use.

Where a block has fewer elements than threads, or a scalar, all threads compute the same and one of them stores. In
``tl.store(p, tl.load(p) + 1)`` all read and one writes: by PTX's rules a race, and of no consequence, as the others' values go into
stores that they do not execute. So where races are looked for, such reads are left to the threads that store: a load whose value goes
through arithmetic into stores alone, all of which are guarded by a test of the thread's number, gets this guard, too.

A load stays as it is when anything else uses what becomes of its value: a branch, an address that is read, shared memory, a shuffle.
So a replica that acts upon what it has read races still.

>>> ptx = '''
... \tmov.u32 \t%r1, %tid.x;
... \tand.b32 \t%r2, %r1, 96;
... \tsetp.eq.b32 \t%p1, %r2, 0;
... \tld.global.b32 { %r3 }, [ %rd1 + 0 ];
... \tadd.s32 \t%r4, %r3, 1;
... \t@%p1 st.global.b32 [ %rd1 + 0 ], { %r4 };
... '''
>>> print(owned(ptx).splitlines()[4].replace("; ", ";\n").strip())
{ .reg .pred %owner;
.reg .b32 %which;
mov.b32 %r3, 0;
mov.u32 %which, %tid.x;
and.b32 %which, %which, 96;
setp.eq.u32 %owner, %which, 0;
@%owner ld.global.b32 { %r3 }, [ %rd1 + 0 ];
}
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: Arithmetic, by the first word of instructions: their results depend on their operands, and nothing else does.
_PURE = frozenset({
    "abs", "add", "and", "bfe", "bfi", "bfind", "brev", "clz", "cnot", "copysign", "cos", "cvt", "div", "ex2", "fma",
    "fns", "lg2", "lop3", "mad", "max", "min", "mov", "mul", "mul24", "neg", "not", "or", "popc", "prmt", "rcp",
    "rem", "rsqrt", "sad", "selp", "set", "setp", "shf", "shl", "shr", "sin", "slct", "sqrt", "sub", "tanh", "testp",
    "xor",
})  # fmt: skip
#: What writes to global memory.
_SINKS = ("st.global", "red.global", "atom.global", "st.relaxed", "red.relaxed")
_STATEMENT = re.compile(r"^\s*(?:@(!?)(%\w+)\s+)?([a-z][\w.]*)\s+([^;]*);")
_REGISTER = re.compile(r"%[a-z]+\d+")
_BITS = {"%r": 32, "%rd": 64, "%rs": 16, "%f": 32, "%fd": 64}


@dataclass
class _Line:
    """A statement: its guard, what it does, and the registers that it sets and reads."""

    number: int
    negated: bool
    guard: str | None
    opcode: str
    operands: str
    sets: list[str] = field(default_factory=list)
    reads: list[str] = field(default_factory=list)


def owned(ptx: str) -> str:
    """Give PTX whose replicas do not read what they do not use; no line is added or taken away."""
    lines = ptx.split("\n")
    statements = [_line(number, text) for number, text in enumerate(lines)]
    program = _Program([each for each in statements if each is not None])
    for load in program.lines:
        if load.opcode.startswith("ld.global") and all(_bits(register) for register in load.sets):
            mask = program.owner(load)
            if mask:
                lines[load.number] = "\t" + _guarded(load, mask)
    return "\n".join(lines)


def _line(number: int, text: str) -> _Line | None:
    found = _STATEMENT.match(text)
    if found is None:
        return None
    negated, guard, opcode, operands = found.groups()
    line = _Line(number, negated == "!", guard, opcode, operands.strip())
    registers = _REGISTER.findall(operands)
    if opcode.startswith(("st.", "red.", "bar", "bra", "call")):
        line.reads = registers
    else:
        # What is set stands first: one register, two with a bar between, or a vector in braces.
        first = re.match(r"\{[^}]*\}|[^,]*", line.operands)
        line.sets = _REGISTER.findall(first.group()) if first else []
        line.reads = registers[len(line.sets) :]
    return line


def _bits(register: str) -> int:
    return _BITS.get(register.rstrip("0123456789"), 0)


def _guarded(load: _Line, mask: int) -> str:
    guard = ""
    if load.guard is not None:
        inverse = f"not.pred %also, {load.guard}; " if load.negated else f"mov.pred %also, {load.guard}; "
        guard = f".reg .pred %also; {inverse}and.pred %owner, %owner, %also; "
        # An inline guard leaves what the register had, which is what a load that is masked off gives.
        start = ""
    else:
        start = "".join(f"mov.b{_bits(register)} {register}, 0; " for register in dict.fromkeys(load.sets))
    test = f"mov.u32 %which, %tid.x; and.b32 %which, %which, {mask}; setp.eq.u32 %owner, %which, 0; "
    head = "{ .reg .pred %owner; .reg .b32 %which; "
    return f"{head}{start}{test}{guard}@%owner {load.opcode} {load.operands}; }}"


class _Program:
    """Statements by the registers that they set and read."""

    def __init__(self, lines: list[_Line]) -> None:
        self.lines = lines
        self._sets: dict[str, list[_Line]] = {}
        self._reads: dict[str, list[_Line]] = {}
        for line in lines:
            for register in line.sets:
                self._sets.setdefault(register, []).append(line)
            for register in {*line.reads, *([line.guard] if line.guard else [])}:
                self._reads.setdefault(register, []).append(line)

    def owner(self, load: _Line) -> int:
        """The bits of a thread's number that are 0 in all threads that use what a load gives; 0: any may."""
        mask, seen, rest = -1, set(load.sets), list(load.sets)
        while rest:
            for line in self._reads.get(rest.pop(), []):
                kind = line.opcode.split(".", 1)[0]
                if line.opcode.startswith(_SINKS):
                    mask &= self._tested(line.guard, line.negated, 8) if line.guard else 0
                elif kind in _PURE:
                    # What a guarded instruction sets depends on its guard, too.
                    new = [register for register in line.sets if register not in seen]
                    seen.update(new)
                    rest.extend(new)
                else:
                    return 0
                if mask == 0:
                    return 0
        # A value that nobody uses is nobody's.
        return mask if mask > 0 else 0

    def _only(self, register: str | None) -> _Line | None:
        """What sets a register, if one instruction does, always."""
        sets = self._sets.get(register or "", [])
        return sets[0] if len(sets) == 1 and sets[0].guard is None else None

    def _tested(self, guard: str | None, negated: bool, depth: int) -> int:
        """The bits of a thread's number that are 0 wherever a guard lets an instruction through."""
        line = self._only(guard)
        if line is None or depth == 0:
            return 0
        operands = [each.strip() for each in line.operands.split(",")][1:]
        if line.opcode == "and.pred" and not negated:
            left, right = (self._tested(each, False, depth - 1) for each in operands)
            return left | right
        if line.opcode == "or.pred" and negated:
            left, right = (self._tested(each, True, depth - 1) for each in operands)
            return left | right
        if line.opcode == "not.pred":
            return self._tested(operands[0], not negated, depth - 1)
        word = re.fullmatch(r"setp\.(eq|ne|lt|gt)\.[bus]32", line.opcode)
        if word is None or not operands[-1].isdigit():
            return 0
        bits, number = self._thread(operands[0], depth - 1), int(operands[-1])
        if number == 0 and word.group(1) == ("ne" if negated else "eq"):
            return bits
        # Below a power of two.
        if word.group(1) == ("gt" if negated else "lt"):
            below = number + negated
            return bits & ~(below - 1) if below > 0 and below & (below - 1) == 0 else 0
        return 0

    def _thread(self, register: str, depth: int) -> int:
        """The bits of the thread's number that a register has, each in its place; 0 where it is something else."""
        line = self._only(register)
        if line is None or depth == 0:
            return 0
        operands = [each.strip() for each in line.operands.split(",")][1:]
        if line.opcode.startswith("mov") and operands == ["%tid.x"]:
            return 1023
        if line.opcode == "and.b32" and operands[1].isdigit():
            return self._thread(operands[0], depth - 1) & int(operands[1])
        return 0
