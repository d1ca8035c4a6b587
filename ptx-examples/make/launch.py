"""What a launch.toml holds, and how it is written.

An `Example` collects buffers, launches and expected results and writes `launch.toml` with its
data files, and one `launch.V.toml` for each variant V that `targets.txt` lists. Short arrays
are written into the file, longer ones become .npy files."""
import math
import os

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
INLINE = 40

NUMPY = {
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "s8": np.int8, "s16": np.int16, "s32": np.int32, "s64": np.int64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "b8": np.uint8,
}


def variants(name):
    """The variants of an example ("" for NAME.ptx), from targets.txt."""
    found = []
    with open(os.path.join(HERE, "targets.txt"), encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words and words[0] == name:
                found.append("" if words[1] == "-" else words[1])
    return found


def exact(data, kind):
    """The numbers as an array of this type; integers must fit."""
    data = np.asarray(data, dtype=object if isinstance(data, (list, tuple)) else None).ravel()
    made = data.astype(NUMPY[kind])
    if kind[0] != "f" and any(int(a) != int(b) for a, b in zip(data, made)):
        raise ValueError(f"a number does not fit {kind}")
    return made


def number(x):
    if isinstance(x, (float, np.floating)):
        x = float(x)
        if math.isnan(x):
            return "nan"
        if math.isinf(x):
            return "inf" if x > 0 else "-inf"
        return repr(x)
    return str(int(x))


def numbers(values):
    text, line = "[", ""
    for i, x in enumerate(values):
        word = number(x) + ("" if i == len(values) - 1 else ",")
        if len(line) + len(word) > 90:
            text += line + "\n  "
            line = ""
        line += word if line == "" else " " + word
    return text + line + "]"


class Example:
    def __init__(self, name, *, suffix="", schedule_dependent=False, ptx=None, note=None):
        self.name, self.suffix, self.ptx = name, suffix, ptx
        self.note, self.schedule_dependent = note, schedule_dependent
        self.types, self.head, self.body, self.tail = {}, [], [], []
        os.makedirs(os.path.join(ROOT, name), exist_ok=True)

    def _data(self, stem, kind, data):
        if isinstance(data, (bytes, bytearray)):
            return f'hex = "{bytes(data).hex()}"'
        if kind == "bf16":
            return f"values = {numbers(data)}"
        data = exact(data, kind)
        if len(data) <= INLINE:
            return f"values = {numbers(data)}"
        np.save(os.path.join(ROOT, self.name, stem + ".npy"), data)
        return f'npy = "{stem}.npy"'

    def buffer(self, name, kind, data="zeros", length=None, note=None, raw=False):
        """A device buffer: "zeros" or "iota" with a length, an array, or bytes; raw: in a .bin file."""
        self.types[name] = kind
        if isinstance(data, str):
            init = f'"{data}"'
        elif raw:
            exact(data, kind).tofile(os.path.join(ROOT, self.name, name + ".bin"))
            init, length = f'{{ raw = "{name}.bin" }}', len(data)
        else:
            init = "{ " + self._data(name, kind, data) + " }"
            if isinstance(data, (bytes, bytearray)):
                length = len(data) * 8 // int(kind[1:] if kind != "bf16" else 16)
            else:
                length = len(np.asarray(data).ravel())
        if note:
            self.head.append(f"# {note}")
        self.head += [f"[buffers.{name}]", f'type = "{kind}"', f"init = {init}", f"len = {length}", ""]

    def image(self, table, name, data="zeros", **keys):
        """A texture (table "textures") or a surface ("surfaces"), with the keys of a launch file."""
        self.types[name] = keys["format"]
        init = f'"{data}"' if isinstance(data, str) else "{ " + self._data(name, keys["format"], data) + " }"
        self.head.append(f"[{table}.{name}]")
        for key, value in keys.items():
            text = {True: "true", False: "false"}.get(value) if isinstance(value, bool) else None
            self.head.append(f"{key} = {text or (chr(34) + value + chr(34) if isinstance(value, str) else value)}")
        self.head += [f"init = {init}", ""]

    def globals(self, **values):
        """Values of .global and .const variables: name = (type, values)."""
        self.head.append("[globals]")
        for name, (kind, data) in values.items():
            self.head.append(f'{name} = {{ type = "{kind}", values = {numbers(exact(data, kind))} }}')
        self.head.append("")

    def launch(self, entry, grid, block, *args, shared=0, note=None):
        """A launch. An argument is a buffer's name, (name, offset), (type, value), or ("texture", name) and the like."""
        texts = []
        for a in args:
            if isinstance(a, str):
                texts.append(f'{{ buffer = "{a}" }}')
            elif a is None:
                texts.append("{ null = true }")
            elif a[0] in ("texture", "surface"):
                texts.append(f'{{ {a[0]} = "{a[1]}" }}')
            elif a[0] in self.types:
                texts.append(f'{{ buffer = "{a[0]}", offset = {a[1]} }}')
            elif a[0] == "bytes":
                texts.append(f'{{ bytes = "{bytes(a[1]).hex()}" }}')
            else:
                texts.append(f"{{ {a[0]} = {number(a[1])} }}")
        shape = lambda x: list(x) + [1] * (3 - len(x)) if isinstance(x, (list, tuple)) else [x, 1, 1]
        if note:
            self.body.append(f"# {note}")
        self.body += ["[[launch]]", f'entry = "{entry}"', f"grid = {shape(grid)}", f"block = {shape(block)}",
                      f"shared = {shared}"]
        args = ", ".join(texts)
        if len(args) > 88:
            args = "\n  " + ",\n  ".join(texts) + ",\n"
        self.body += [f"args = [{args}]", ""]

    def expect(self, name, data, rel=None, abs=None, first=None, unordered=False, note=None):
        if note:
            self.tail.append(f"# {note}")
        self.tail += [f"[expect.{name}]", self._data("expected_" + name, self.types[name], data)]
        if first is not None:
            self.tail.append(f"first = {first}")
        for key, value in (("rel", rel), ("abs", abs)):
            if value is not None:
                self.tail.append(f"{key} = {value!r}")
        if unordered:
            self.tail.append("unordered = true")
        self.tail.append("")

    def stdout(self, text, sort=False):
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        self.tail += ["[expect_stdout]", f'text = "{quoted}"']
        if sort:
            self.tail.append("sorted = true")
        self.tail.append("")

    def write(self):
        for variant in [""] if self.suffix or isinstance(self.ptx, list) else variants(self.name):
            dot = "." + variant if variant else ""
            ptx = self.ptx or f"{self.name}{dot}.ptx"
            lines = [f"# {self.note}"] if self.note else []
            if isinstance(ptx, list):
                lines.append("ptx = [" + ", ".join(f'"{p}"' for p in ptx) + "]")
            else:
                lines.append(f'ptx = "{ptx}"')
            if self.schedule_dependent:
                lines.append("schedule_dependent = true")
            lines.append("")
            file = f"launch{self.suffix}{dot}.toml"
            with open(os.path.join(ROOT, self.name, file), "w", encoding="utf-8") as f:
                f.write("\n".join(lines + self.head + self.body + self.tail).rstrip() + "\n")
