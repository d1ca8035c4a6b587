#!/usr/bin/env python3
"""clean.py FILE.ptx: takes machine paths out of a PTX file.

`.file` lines keep the file's name only. In debug sections the compilation directory, spelt as
a row of bytes, becomes /src followed by slashes, of the same length, so that no offset moves."""
import os
import re
import sys

path = sys.argv[1]
with open(path, encoding="utf-8") as f:
    text = f.read()
text = re.sub(r'(?m)^(\s*\.file\s+\d+\s+)"[^"]*/([^"/]+)"', r'\1"\2"', text)

here = os.getcwd().encode()
spelt = r"(?:,|[ \t]*(?://[^\n]*)?\n\s*\.b8\s+)".join(map(str, here))


def plain(match):
    new = iter(b"/src".ljust(len(here), b"/"))
    text = re.sub(r"//[^\n]*", "", match.group(0))
    return re.sub(r"(?<![\w.])\d+", lambda _: str(next(new)), text)


text = re.sub(r"(?<=[ ,])" + spelt + r"(?=,|\s)", plain, text)
with open(path, "w", encoding="utf-8") as f:
    f.write(text)
