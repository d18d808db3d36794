#!/usr/bin/env python3
"""Runs every code block of a page of the documentation, from the first to the last.

usage: run_page.py PAGE.md ROOT PLUGIN_FOLDER

Commands run in ROOT, all of a page in one shell; the first that fails ends it. The words behind the
opening fence say what a block is, and a block of which they say nothing known is an error:

  sh                 commands
  sh as-root         commands that a user gives as root: what they install goes elsewhere (DESTDIR)
  sh background      a server: it runs, from the beginning, as long as the page does. The port that it
                     prints takes the place of https://example.org in all other blocks
  sh long, sh window commands that take too long for a test, or open a window. They are run where
                     REFS_DOCS_LONG is set (long); else they must be well-formed and name files that
                     there are
  python             a program of its own
  python continued   one that begins with the programs before it, up to one that is not continued
  sh store, python store
                     the same, with the aliases tenancy-0 and tenancy-1 of an object store that has the
                     buckets test and test-bucket; left out where the server for that is not there
  python qgis        the same, inside of QGIS, which keeps no statistics
  ... needs=a,b      left out where there are no such modules of Python, or programs (sh)
  c, cmake file=F    the content of file F
  c in=F             lines that stand in file F
  text output        what the block before it prints; … stands for anything, on a line of its own for
                     any lines
  text form          names: no commands
  text drawing       lines of arrows
  text measured      what was printed once, by commands that are long

A picture of the page that the commands leave in build/ must be like the one that the page shows, and
they may change nothing outside of build/.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "server"))
import object_store  # noqa: E402

FENCE = re.compile(r"^( *)```(.*)$")
EXAMPLE = "https://example.org"
BUILD = "build/release"  # as pages write it
KINDS = {"sh": {"", "as-root", "background", "long", "window", "store"},
         "python": {"", "continued", "qgis", "qgis continued", "store"},
         "c": {""}, "cmake": {""}, "text": {"output", "form", "drawing", "measured"}}
QGIS = """\
import os, sys, tempfile
sys.path.insert(0, "qgis")
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ.setdefault("GDAL_PAM_ENABLED", "NO")
os.environ.setdefault("QGIS_PREFIX_PATH", "/usr")
from qgis.core import QgsApplication, QgsProject
with tempfile.TemporaryDirectory() as _profile:
    _application = QgsApplication([], True, _profile)
    _application.initQgis()
    exec(compile(open({path!r}).read(), {path!r}, "exec"), {{"__name__": "__main__"}})
    _layers = QgsProject.instance().mapLayers().values()
    assert _layers and all(layer.isValid() for layer in _layers)
    QgsProject.instance().clear()
    _application.exitQgis()
"""


class PageError(Exception):
    """The page does not do what it says."""


class Block:
    """A fenced block: its language, what the words behind it say, and its text."""

    def __init__(self, page, line, info, text):
        words = info.split()
        options = [word for word in words if "=" in word]
        self.place = f"{page}:{line}"
        self.language = words[0] if words else ""
        self.kind = " ".join(word for word in words[1:] if "=" not in word)
        self.options = dict(word.split("=", 1) for word in options)
        self.text = text
        if self.kind not in KINDS.get(self.language, ()):
            raise PageError(f"{self.place}: no such kind of block: ```{info}")
        if self.language in ("c", "cmake") and not {"file", "in"} & set(self.options):
            raise PageError(f"{self.place}: file= or in= must say where the block belongs")

    def is_runnable(self):
        return self.language in ("sh", "python") and self.kind not in ("background", "long", "window")

    def missing(self):
        """Modules, or programs, that it needs and that are not there."""
        needed = self.options.get("needs", "").split(",")
        if "qgis" in self.kind:
            needed.append("qgis")
        if self.kind == "store" and object_store.WHY_NOT:
            return ["versitygw"]
        is_there = find_program if self.language == "sh" else importlib.util.find_spec
        return [name for name in needed if name and not is_there(name)]


def blocks_of(path):
    """All blocks of a page. Code that is indented instead of fenced is an error."""
    found, begin, info, lines = [], 0, None, []
    with open(path, encoding="utf-8") as page:
        text = page.read().splitlines()
    for number, line in enumerate(text, 1):
        fence = FENCE.match(line)
        if fence and info is None:
            begin, info, lines = number, fence.group(2), []
        elif fence:
            found.append(Block(path, begin, info, textwrap.dedent("\n".join(lines) + "\n")))
            info = None
        elif info is not None:
            lines.append(line)
        elif re.match(r" {4,}\S", line) and text[number - 2].strip() == "":
            raise PageError(f"{path}:{number}: indented code: put it between fences")
    if info is not None:
        raise PageError(f"{path}:{begin}: the fence is not closed")
    return found


def find_program(word):
    return subprocess.run(["sh", "-c", 'command -v -- "$1"', "sh", word],
                          stdout=subprocess.DEVNULL, check=False).returncode == 0


def is_program(path):
    with open(path, "rb") as file:
        return os.access(path, os.X_OK) and file.read(4) in (b"\x7fELF", b"#!/u", b"#!/b")


def check_form(block):
    """Nobody should take for a form what could be run."""
    for line in block.text.splitlines():
        words = [word for word in line.split() if not re.match(r"\w+=", word)]
        if words and re.fullmatch(r"[\w./-]+", words[0]) and find_program(words[0]):
            raise PageError(f"{block.place}: this is a command: {line}")


def check_drawing(block):
    if not all(re.search(r"[─│]|\s[v^]\s", line) for line in block.text.splitlines()):
        raise PageError(f"{block.place}: there is a line without arrows")


def check_not_run(block):
    """What can be said of commands that are not run."""
    if subprocess.run(["sh", "-n"], input=block.text, text=True, check=False).returncode:
        raise PageError(f"{block.place}: the shell does not understand this")
    for word in re.findall(r"[\w.-]+(?:/[\w.-]+)+", block.text):
        if os.path.isdir(word.split("/")[0]) and word.split("/")[0] != "build" \
                and not os.path.exists(word):
            raise PageError(f"{block.place}: there is no {word}")
    for program in re.findall(r"(?:^|[|;&]\s*)(?:\w+=\S*\s+)*([\w.-]+(?:/[\w.-]+)+)", block.text, re.M):
        if os.path.isfile(program) and not is_program(program):
            raise PageError(f"{block.place}: {program} is no program")


def check_stands_in(block):
    with open(block.options["in"], encoding="utf-8") as file:
        if "".join(block.text.split()) not in "".join(file.read().split()):
            raise PageError(f"{block.place}: {block.options['in']} has no such lines")


class Server:
    """The command of a background block."""

    def __init__(self, block):
        # "python3" is the one that has what pages need.
        path = os.path.dirname(sys.executable) + os.pathsep + os.environ["PATH"]
        self._process = subprocess.Popen(["sh", "-euc", "exec " + block.text.strip()], env={**os.environ, "PATH": path},
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        port = self._process.stdout.readline().decode().strip()
        if not port.isdigit():
            raise PageError(f"{block.place}: does not say its port")
        self.base = f"http://127.0.0.1:{port}"

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        try:
            self._process.wait(1)  # those of the project end with their input
        except subprocess.TimeoutExpired:
            self._process.terminate()
        self._process.wait(10)


class Store:
    """Object stores, and the file that has their aliases."""

    def __init__(self, folder):
        self.stores = [object_store.ObjectStore(f"id-{i}", f"secret-{i}", "test", "test-bucket") for i in range(2)]
        hosts = {f"s3://tenancy-{i}": {"alias": f"tenancy-{i}", "url": store.url, "backend": "s3aioFileObject",
                                       "credentials": {"accessKey": store.key, "secretKey": store.secret}}
                 for i, store in enumerate(self.stores)}
        self.config = os.path.join(folder, "s3nc.json")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"version": "9", "hosts": hosts, "backends": {}}, file)

    def close(self):
        for store in self.stores:
            store.close()


class Page:
    def __init__(self, path, folder, plugins):
        self.blocks = blocks_of(path)
        self.folder = folder
        self.plugins = os.path.abspath(plugins)
        self.left_out = []
        has_store = any(block.kind == "store" for block in self.blocks) and not object_store.WHY_NOT
        self.store = Store(folder) if has_store else None
        self.servers = [Server(block) for block in self.blocks if block.kind == "background"]

    def file(self, name):
        return os.path.join(self.folder, name)

    def close(self):
        for server in self.servers:
            server.close()
        if self.store:
            self.store.close()

    def as_run(self, text):
        """What this machine has for what a reader has."""
        text = text.replace(BUILD, os.path.relpath(os.path.dirname(self.plugins)))
        return text.replace(EXAMPLE, self.servers[0].base) if self.servers else text

    def as_shown(self, text):
        return text.replace(self.servers[0].base, EXAMPLE) if self.servers else text

    def write(self, name, text):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)

    def program(self, number):
        """The command that runs block `number`, which is Python."""
        block, text = self.blocks[number], self.blocks[number].text
        earlier = number
        while "continued" in self.blocks[earlier].kind:
            earlier -= 1
            while self.blocks[earlier].language != "python":
                earlier -= 1
            text = self.blocks[earlier].text + text
        path = self.file(f"block_{number}.py")
        self.write(path, self.as_run(text))
        if "qgis" in block.kind:
            inside, path = path, self.file(f"qgis_{number}.py")
            self.write(path, QGIS.format(path=inside))
        return f"'{sys.executable}' '{path}'\n"

    def commands(self, number):
        """Block `number` as shell commands."""
        block = self.blocks[number]
        if block.missing():
            self.left_out.append(number)
            print(f"{block.place}: left out: needs {', '.join(block.missing())}")
            return ""
        if block.language == "python":
            return self.program(number)
        if block.kind == "as-root":
            return f"export DESTDIR='{self.file('root')}'\n{self.as_run(block.text)}unset DESTDIR\n"
        # The command that runs this test is left out.
        return re.sub(r"^sh autotest/run.sh\b.*\n", "", self.as_run(block.text), flags=re.MULTILINE)

    def script(self):
        """All that is run, with the output of each block in a file of its own."""
        parts = ["set -eux\n"]
        if self.store:
            parts.append(f"export S3_NC_CONFIG='{self.store.config}'\n")
        for number, block in enumerate(self.blocks):
            if "file" in block.options:
                os.makedirs(os.path.dirname(block.options["file"]), exist_ok=True)
                self.write(block.options["file"], block.text)
            elif "in" in block.options:
                check_stands_in(block)
            elif block.kind == "form":
                check_form(block)
            elif block.kind == "drawing":
                check_drawing(block)
            elif block.kind == "window" or block.kind == "long" and "REFS_DOCS_LONG" not in os.environ:
                check_not_run(block)
            elif block.is_runnable() or block.kind == "long":
                parts.append(f"exec >'{self.file(str(number))}'\n{self.commands(number)}")
        return "".join(parts)

    def run(self):
        self.write(self.file("page.sh"), self.script())
        status = subprocess.run(["sh", self.file("page.sh")], check=False).returncode
        for number, block in enumerate(self.blocks):
            if os.path.exists(self.file(str(number))):
                print(f"--- {block.place}\n{self.output(number)}", end="")
        if status:
            raise PageError(f"a command failed with {status}")
        for number, block in enumerate(self.blocks):
            if block.kind == "output":
                self.compare(number)

    def output(self, number):
        with open(self.file(str(number)), encoding="utf-8", errors="replace") as file:
            return self.as_shown(file.read())

    def compare(self, number):
        """An output block with what the block before it printed."""
        block = self.blocks[number]
        if number == 0 or not self.blocks[number - 1].is_runnable():
            raise PageError(f"{block.place}: what printed this?")
        if number - 1 in self.left_out:
            return
        lines = [r"(?:.*\n)*?" if line.strip() == "…"
                 else ".*".join(map(re.escape, line.split("…"))) + r"[ \t]*\n"
                 for line in block.text.splitlines()]
        if not re.fullmatch("".join(lines), self.output(number - 1)):
            raise PageError(f"{block.place}: something else was printed:\n{self.output(number - 1)}")


def pictures_differ(shown, made):
    """The mean difference of two pictures, of 255, or infinity for those of other sizes."""
    import numpy as np
    from osgeo import gdal
    gdal.UseExceptions()
    a, b = (gdal.Open(path).ReadAsArray().astype(float) for path in (shown, made))
    return float(np.abs(a - b).mean()) if a.shape == b.shape else float("inf")


def check_pictures(path):
    with open(path, encoding="utf-8") as page:
        names = re.findall(r"!\[[^\]]*\]\((pictures/[^)]+)\)", page.read())
    for name in names:
        shown = os.path.join(os.path.dirname(path), name)
        made = os.path.join("build", os.path.basename(name))
        if not os.path.exists(shown):
            raise PageError(f"{path}: there is no {name}")
        if os.path.exists(made) and pictures_differ(shown, made) > 3:
            raise PageError(f"{path}: {made} does not look like {shown}")


def tree():
    """What the commands may not change."""
    found = {name: os.stat(name).st_mtime_ns for name in os.listdir() if os.path.isfile(name)}
    for top in ("data", "docs", "examples"):
        for folder, _, names in os.walk(top):
            if os.path.basename(folder) != "__pycache__":
                found.update((path, os.stat(path).st_mtime_ns)
                             for path in (os.path.join(folder, name) for name in names))
    return found


def main():
    path, root, plugins = sys.argv[1:]
    os.chdir(root)
    path = os.path.relpath(path)
    before = tree()
    try:
        with tempfile.TemporaryDirectory() as folder:
            page = Page(path, folder, plugins)
            try:
                page.run()
            finally:
                page.close()
        check_pictures(path)
        changed = sorted(name for name, _ in before.items() ^ tree().items())
        if changed:
            raise PageError(f"{path} changes files: {', '.join(dict.fromkeys(changed))}")
    except PageError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
