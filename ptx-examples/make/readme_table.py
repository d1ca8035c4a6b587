#!/usr/bin/env python3
"""Prints the table of README.md from targets.txt and the sources' first sentences."""
import os

from launch import HERE, ROOT

COMPILERS = {"nvcc": "nvcc 13.5", "nvrtc": "NVRTC 12.9", "hand": "by hand"}


def first_sentence(name):
    for ending in (".cu", ".py", ".ptx"):
        path = os.path.join(ROOT, name, name + ending)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                lines = f.read().splitlines()
            break
    if lines[0].startswith('"""'):
        text = lines[0].strip('"').split(": ", 1)[1]
        return text[0].upper() + text[1:]
    text = ""
    for line in lines:
        if not line.startswith("//"):
            break
        text += " " + line.lstrip("/").strip()
    for i, c in enumerate(text):
        if c == "." and (i + 1 == len(text) or text[i + 1] == " "):
            return text[1].upper() + text[2:i] + "."
    return text.strip()


rows = {}
with open(os.path.join(HERE, "targets.txt"), encoding="utf-8") as f:
    for line in f:
        if line.strip() and not line.startswith("#"):
            name, variant, target, compiler, *options = line.split()
            label = target if variant in ("-", target) else f"{target} ({variant})"
            if compiler == "python":
                compiler = {"triton": "Triton 3.9.0", "numba": "numba-cuda 0.30.4"}[name.split("_")[0]]
            rows.setdefault(name, []).append((label, COMPILERS.get(compiler, compiler), options))
print("| name | what it shows | targets | compiler |\n|---|---|---|---|")
for name, made in rows.items():
    what = "Thirty small kernels that together use most of CUDA C++." if name == "feat" else first_sentence(name)
    targets = ", ".join(t for t, _, _ in sorted(made))
    compilers = ", ".join(sorted({c for _, c, _ in made}))
    lines = " with `-lineinfo`" if any("-lineinfo" in o for _, _, o in made) else ""
    print(f"| `{name}` | {what} | {targets} | {compilers}{lines} |")
