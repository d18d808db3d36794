"""The pages say what the code has: options, modules, files and names, and their links lead somewhere.

usage: pages_test.py ROOT
"""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from glob import glob

from osgeo import gdal

ROOT = sys.argv.pop(1)
sys.path.insert(0, os.path.join(ROOT, "packaging"))
sys.dont_write_bytecode = True
import option_table  # noqa: E402
import site_hooks  # noqa: E402

gdal.UseExceptions()
UNITS = {"KiB": 10, "MiB": 20, "GiB": 30}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def names(pattern):
    return sorted(os.path.relpath(path, ROOT) for path in glob(os.path.join(ROOT, pattern), recursive=True))


PAGES = [*names("*.md"), *names("docs/*.md"), *names("docs/decisions/*.md")]
EVERY_PAGE = [*PAGES, *(path for folder in (".github", "autotest", "autotest/*", "data", "python") for path in names(f"{folder}/*.md"))]
SOURCES = {path: read(path) for extension in ("c", "h", "cpp")
           for folder in ("frmts/refs/*", "frmts/refs/*/*", "include/refs")
           for path in names(f"{folder}/*.{extension}")}
CODE = "\n".join(SOURCES.values())
CMAKE = "".join(map(read, ["CMakeLists.txt", "python/CMakeLists.txt", *names("cmake/*.cmake"), *names("frmts/refs/*/CMakeLists.txt")]))
HOST = "frmts/refs/cloud/"  # settings of programs without GDAL


def section(page, title):
    """What stands under a heading, up to the next of its level."""
    match = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |\Z)", read(page), re.M | re.S)
    assert match, f"{page} has no section {title}"
    return match.group(2)


def rows(text):
    """The cells of all rows of a table but its head."""
    found = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in text.splitlines() if line.startswith("|")]
    return [cells for cells in found[1:] if not set("".join(cells)) <= set("-")]


def without_blocks(text):
    return re.sub(r"^ *```.*?^ *```$", "", text, flags=re.M | re.S)


def quoted(text):
    return re.findall(r"`([^`]+)`", without_blocks(text))


def anchors(text):
    """The names that headings have in links."""
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
            for title in re.findall(r"^#+ (.*)$", without_blocks(text), re.M)}


def links(page):
    """(path in the repository, anchor) of each link of a page that leads into the repository."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_blocks(read(page))):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            here = os.path.dirname(page)
            yield os.path.normpath(os.path.join(here, path)) if path else page, anchor


class Tables(unittest.TestCase):
    def test_have_rows_of_one_width(self):
        """A row of another table, or a "|" within a cell, shows as text in wrong columns."""
        for page in PAGES:
            width = 0
            for line in without_blocks(read(page)).splitlines():
                cells = len(re.findall(r"(?<!\\)\|", line.rstrip())) if line.startswith("|") else 0
                with self.subTest(page=page, line=line):
                    self.assertIn(cells, (0, width or cells))
                width = cells


class Links(unittest.TestCase):
    def test_lead_somewhere(self):
        self.assertGreater(sum(1 for page in EVERY_PAGE for _ in links(page)), 300)
        for page in EVERY_PAGE:
            for path, anchor in links(page):
                with self.subTest(page=page, path=path, anchor=anchor):
                    self.assertTrue(os.path.exists(os.path.join(ROOT, path)))
                    if anchor:
                        self.assertIn(anchor, anchors(read(path)))

    def test_lead_from_the_readme_to_every_page(self):
        reached, todo = set(), ["README.md"]
        while todo:
            page = todo.pop()
            if page not in reached and page.endswith(".md"):
                reached.add(page)
                todo += [path for path, _ in links(page)]
        self.assertEqual([page for page in names("docs/*.md") if page not in reached], [])


class Index(unittest.TestCase):
    GROUPS = ["Tutorials", "How-to guides", "Reference", "Explanation"]

    def test_has_every_page_once_with_its_question(self):
        listed = []
        for group in self.GROUPS:
            for line in section("docs/index.md", group).strip().splitlines():
                with self.subTest(group=group, line=line):
                    entry = re.fullmatch(r"\* \[[^\]]+\]\(([^)#]+)\): [^?]+\?", line)
                    self.assertTrue(entry)
                    listed.append(os.path.normpath(os.path.join("docs", entry[1])))
        expected = {*names("docs/*.md"), "docs/decisions/index.md"} - {"docs/index.md"}
        self.assertEqual(sorted(listed), sorted(expected))

    def test_of_decisions_has_each_with_its_number_and_title(self):
        listed = {}
        for number, link, question in rows(read("docs/decisions/index.md")):
            title, page = re.fullmatch(r"\[(.*)\]\((.*)\)", link).groups()
            listed[f"docs/decisions/{page}"] = (int(number), title.lower())
            self.assertTrue(question.endswith("?"), question)
        expected = {}
        for page in names("docs/decisions/[0-9]*.md"):
            title = re.match(r"# (\d+)[.:] (.*)", read(page))
            expected[page] = (int(title[1]), title[2].lower())
        self.assertEqual(listed, expected)


class Site(unittest.TestCase):
    """packaging/site_hooks.py, without mkdocs."""

    def test_navigation_is_the_index(self):
        with tempfile.TemporaryDirectory() as pages:
            shutil.copytree(os.path.join(ROOT, "docs"), os.path.join(pages, "docs"))
            for page in ("README.md", "CONTRIBUTING.md"):
                shutil.copy(os.path.join(ROOT, page), pages)
            found = site_hooks.navigation(pages)
        self.assertEqual([title for group in found for title in group],
                         ["REFS", "All pages", *Index.GROUPS, "Project"])
        pages = site_hooks.paths(found)
        self.assertEqual(sorted(pages), sorted({"README.md", "CONTRIBUTING.md", *names("docs/*.md"), *names("docs/decisions/*.md")}))

    def test_markdown_becomes_that_of_the_site(self):
        for github, site in (("```sh as-root\nls\n```\n", "```sh\nls\n```\n"),
                             ("Text:\n* a\n  b\n* c\n", "Text:\n\n* a\n    b\n* c\n"),
                             ("1. a\n\n   ```sh long\n   ls\n     x\n   ```\n\n   b\n2. c\n",
                              "1. a\n\n    ```sh\n    ls\n      x\n    ```\n\n    b\n\n2. c\n"),
                             ("```c\na:\n* b\n  c\n```\n", "```c\na:\n* b\n  c\n```\n")):
            self.assertEqual(site_hooks.on_page_markdown(github), site)


class Help(unittest.TestCase):
    def test_topic_of_the_driver_is_a_page(self):
        self.assertIn(gdal.GetDriverByName("REFS").GetMetadataItem("DMD_HELPTOPIC"), names("docs/*.md"))


class Options(unittest.TestCase):
    @staticmethod
    def documented(page, title):
        """name -> default of the options in the tables of a section of a page."""
        found = {}
        for cells in rows(section(page, title)):
            for name in quoted(cells[0]):
                found[name] = cells[1].strip("`")
        return found

    def test_of_opening_are_those_of_the_driver(self):
        driver = gdal.GetDriverByName("REFS")
        options = {option.get("name"): option.get("default", "") for option in
                   xml.fromstring(driver.GetMetadataItem("DMD_OPENOPTIONLIST")) if option.get("name") != "*"}
        documented = self.documented("docs/open-options.md", "Open options")
        for name, default in documented.items():
            number = re.fullmatch(r"(\d+) (\w+)", default)
            if number:
                documented[name] = str(int(number[1]) << UNITS[number[2]])
        self.assertEqual({name: documented[name] for name in options}, options)
        code = SOURCES["frmts/refs/gdal/options.cpp"]
        accepted = {name.replace("REFS_", "") for table in re.findall(r"\*(?:configured|others)\[\] = \{(.*?)\}", code, re.S)
                    for name in re.findall(r'"(\w+)"', table)}
        self.assertEqual(set(documented), accepted)
        limits = {name: default for name, default in documented.items() if name.startswith("MAX_")}
        self.assertEqual(limits, {name: default for name, default in self.limits().items() if name in limits})

    def test_of_opening_have_the_types_and_choices_of_the_code(self):
        page = read("docs/open-options.md")
        self.assertEqual(option_table.rewrite(page, pathlib.Path(ROOT)), page, "run packaging/option_table.py .")

    @staticmethod
    def limits():
        """name -> default of the limits of sets."""
        header = read("include/refs/refset.h")
        members = re.search(r"typedef struct refs_set_limits \{(.*?)\}", header, re.S)[1]
        names = re.findall(r"^ +\w+ (max_\w+);", members, re.M)
        values = re.search(r"REFS_SET_LIMITS_INIT.*?\{(.*?)\}", header, re.S)[1].replace("\\", "").replace("(uint64_t)", "")
        values = re.sub(r"(\d)u\b", r"\1", values.replace("REFS_MIB", "2**20").replace("REFS_KIB", "2**10")).split(",")
        return {name.upper(): str(eval(value.strip())) for name, value in zip(names, values)}

    @staticmethod
    def asked_for(code):
        return set(re.findall(r'"((?:REFS|GDAL|CPL|AWS|GS|AZURE|OSS|SSL|CURL)_[A-Z0-9_]+)"', code))

    def test_of_programs_without_gdal_are_those_that_the_code_asks_for(self):
        asked = self.asked_for("\n".join(text for path, text in SOURCES.items() if path.startswith(HOST)))
        asked -= {"CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT"}  # security.md
        asked |= set(re.findall(r'"(EARTHDATA_[A-Z_]+)"', CODE))  # logins.md
        page = {name for name in quoted(read("docs/stores.md")) if re.fullmatch(r"[A-Z]+_[A-Z0-9_]+", name)}
        self.assertEqual(page, asked)

    def test_of_configuration_are_those_that_the_code_asks_for(self):
        asked = self.asked_for("\n".join(text for path, text in SOURCES.items() if not path.startswith(HOST)))
        asked -= {"SSL_VERIFYSTATUS", "CPL_DEBUG"}  # a name inside of GDAL; one that is set, and not asked for
        text = section("docs/configuration.md", "Configuration options")
        documented = {name for name in quoted(text) if re.fullmatch(r"[A-Z]+_[A-Z0-9_]+", name)}
        elsewhere = {"GDAL_PAM_ENABLED", "IF_SAME_HOST", "AS_IS"}  # GDAL asks for these
        self.assertEqual(documented - elsewhere, asked)

    def test_of_multidimensional_groups_are_those_that_the_code_asks_for(self):
        self.assertEqual(set(re.findall(r"\b(SHOW_[A-Z_]+)", read("docs/multidim.md"))),
                         set(re.findall(r'"(SHOW_[A-Z_]+)"', CODE)))

    def test_of_refs_are_on_a_page(self):
        pages = "\n".join(map(read, PAGES))
        options = re.findall(r"^    \{'.', \w+, \"([a-z-]+)\"", SOURCES["frmts/refs/cli/arguments.c"], re.M)
        self.assertGreater(len(options), 30)
        self.assertEqual([name for name in options if not re.search(rf"--{name}\b", pages)], [])

    def test_that_pages_name_exist(self):
        """Whatever begins with REFS_ on a page is an option, or a name of the code."""
        known = set(re.findall(r"\bREFS_[A-Z0-9_]+", CODE + CMAKE)) | \
            set(re.findall(r"\bREFS_[A-Z0-9_]+", "\n".join(
                read(path) for path in [*names("autotest/*/*.py"), *names("packaging/*.sh")])))
        for page in PAGES:
            for name in re.findall(r"\bREFS_[A-Z0-9_]*[A-Z0-9]", read(page)):
                with self.subTest(page=page, name=name):
                    self.assertTrue(name in known)


class Conventions(unittest.TestCase):
    def test_grid_mappings_are_those_of_the_code(self):
        projections = SOURCES["frmts/refs/cf/projection.c"]
        named = set(re.findall(r'^    \{"([a-z_]+)",', projections, re.M))
        named |= {"latitude_longitude", "rotated_latitude_longitude"}  # no projections: wkt.c
        table = rows(section("docs/cf-crs.md", "Grid mappings"))
        self.assertEqual({name for cells in table for name in cells[0].split(", ")}, named)
        for cells in table:
            for code in re.findall(r"\((\d{4})\)", cells[1]):
                with self.subTest(cells[0]):
                    self.assertRegex(projections, rf"\b{code}\b")


class Commands(unittest.TestCase):
    """Those that stand in the text. Those in blocks are run."""

    @staticmethod
    @functools.lru_cache(maxsize=None)
    def usage(program):
        """All that a program of GDAL says of its options, in old and in new versions."""
        said = [subprocess.run([program, option], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               text=True, check=False).stdout
                for option in ("--help", "--long-usage", "--help-general")]
        return "\n".join(said)

    def test_have_options_that_their_programs_know(self):
        n = 0
        for page in PAGES:
            for words in map(str.split, quoted(read(page))):
                if not re.fullmatch(r"gdal[a-z_]+", words[0]) or len(words) < 2:
                    continue
                usage = self.usage(words[0])
                for option in (word for word in words[1:] if word.startswith("-")):
                    n += 1
                    with self.subTest(page=page, command=" ".join(words)):
                        self.assertRegex(usage, rf"(?<![\w-]){option}\b")
        self.assertGreater(n, 5)

    def test_of_python_are_functions_of_gdal(self):
        for page in PAGES:
            for text in quoted(read(page)):
                for name in re.findall(r"\bgdal\.([A-Z]\w+)", text):
                    with self.subTest(page=page, name=name):
                        self.assertTrue(hasattr(gdal, name))


class Packaging(unittest.TestCase):
    """What docs/packaging.md tells packagers is what CMake has."""
    def first_cells(self, title):
        return sorted(name for cells in rows(section("docs/packaging.md", title)) for name in quoted(cells[0]))

    def test_options_are_those_of_the_build(self):
        options = re.findall(r"^ *(?:option|set)\((REFS_\w+) [^)]*?(?:CACHE|O(?:N|FF)\)|_FOUND}\))", CMAKE, re.M)
        self.assertEqual(self.first_cells("Options"), sorted(set(options)))

    def test_libraries_are_those_of_the_build(self):
        libraries = set(re.findall(r"^ *refs_codec_library\((\w+)", CMAKE, re.M))
        self.assertEqual(self.first_cells("Optional"), sorted(libraries))


class Architecture(unittest.TestCase):
    PAGE = "docs/architecture.md"

    def modules(self):
        """name -> (public headers, those inside, modules it may enter) of the table."""
        return {quoted(cells[0])[0]: (quoted(cells[1]), quoted(cells[2]),
                                      cells[4].replace(",", "").split())
                for cells in rows(section(self.PAGE, "Modules"))}

    def declared(self):
        """The same, of CMake."""
        found = {}
        for path in names("frmts/refs/*/CMakeLists.txt"):
            for name, rest in re.findall(r"refs_module\((\w+)(.*?)\)", read(path), re.S):
                words = rest.split()
                lists, current = {}, None
                for word in words:
                    if word in ("HEADERS", "INSIDE", "ENTERS", "SOURCES", "LIBRARIES"):
                        current = word
                    else:
                        lists.setdefault(current, []).append(word)
                found[name] = (lists.get("HEADERS", []), lists.get("INSIDE", []),
                               lists.get("ENTERS", []))
        return found

    def test_names_each_module_its_headers_and_what_it_may_enter(self):
        modules, declared = self.modules(), self.declared()
        for user in ("cli", "gdal", "netcdf_c"):
            self.assertEqual(modules.pop(user), ([], [], ["all"]))
        self.assertEqual(modules.pop("library"), (["refs.h"], [], ["all"]))
        self.assertEqual(modules, declared)
        folders = [os.path.basename(name) for name in names("frmts/refs/*/")]
        self.assertEqual(sorted(folders), sorted([*modules, "cli", "gdal", "library", "netcdf_c"]))

    def test_headers_of_modules_are_all_that_there_are(self):
        listed = sorted(header for headers, _, _ in self.modules().values() for header in headers)
        self.assertEqual(listed, sorted(os.path.basename(name) for name in names("include/refs/*.h")))
        changelog = re.search(r"headers in `include/refs/`:(.*?)\.\n", read("CHANGELOG.md"), re.S)
        self.assertEqual(sorted(quoted(changelog.group(1))), listed)

    def test_drawing_has_the_arrows_that_are_declared(self):
        """Each arrow of the drawing is one that a room declares; and no room is left out."""
        drawing = re.search(r"^```text drawing\n(.*?)^```", read(self.PAGE), re.M | re.S).group(1)
        declared = {name: set(enters) for name, (_, _, enters) in self.declared().items()}
        declared["gdal"] = set(declared)
        for line in drawing.splitlines():
            chain = re.findall(r"[a-z]+", line)
            for a, b in zip(chain, chain[1:]):
                self.assertIn(b, declared[a], line)
        self.assertEqual(set(re.findall(r"[a-z]+", drawing)), set(declared))


class FirstPage(unittest.TestCase):
    def test_uses_programs_that_the_demo_builds(self):
        """Who runs the demo and then what README shows has built nothing else."""
        targets = {"gdalplugins": "gdal_REFS", "refs": "refs_tool"}
        used = set(re.findall(r"\bbuild/release/(\w+)", read("README.md")))
        built = re.search(r"--target (.*)", read("data/demo.sh")).group(1).split()
        self.assertEqual({targets[name] for name in used}, set(built))

    def test_demo_ends_with_kelvins(self):
        """The demo's commands, where the build is that of the test: its file holds no packed numbers."""
        plugins = os.path.join(ROOT, "build/release/gdalplugins")
        if os.environ.get("GDAL_DRIVER_PATH") != plugins:
            self.skipTest("the plugin under test is not that of build/release")
        with tempfile.TemporaryDirectory() as folder:
            for name in ("cmake", "dpkg-query"):  # nothing is built or installed
                with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                    file.write("#!/bin/sh\necho installed\n")
                os.chmod(file.name, 0o755)
            environment = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
            said = subprocess.run(["sh", os.path.join(ROOT, "data/demo.sh")], env=environment,
                                  capture_output=True, text=True, check=True).stdout
        least, most = (float(re.search(rf"STATISTICS_{which}=(\S+)", said).group(1))
                       for which in ("MINIMUM", "MAXIMUM"))
        self.assertTrue(230 < least < most < 330, (least, most))


class ErrorCodes(unittest.TestCase):
    """docs/error-codes.md lists the codes of include/refs/error.h, with the numbers that GDAL reports."""

    def test_of_the_page_are_those_of_the_header_in_its_order(self):
        header = read("include/refs/error.h")
        enumerators = re.findall(r"\bREFS_([A-Z_]+)(?: = 0)?,? */\*\*<|REFS_(OK) = 0", section_of_enum(header))
        listed = [quoted(cells[0])[0] for cells in rows(read("docs/error-codes.md"))]
        self.assertEqual(listed, [first or second for first, second in enumerators])
        named = re.search(r"codes\[\] = \{(.*?)\}", header, re.S).group(1)
        self.assertEqual(listed, re.findall(r'"(\w+)"', named))

    def test_have_the_numbers_of_gdal(self):
        table = dict(re.findall(r"\{REFS_(\w+), (CPLE_\w+)\}", read("frmts/refs/gdal/report.cpp")))
        table["OK"] = "CPLE_None"
        self.assertEqual({quoted(cells[0])[0]: quoted(cells[3])[0] for cells in rows(read("docs/error-codes.md"))}, table)

    def test_of_python_are_documented(self):
        codes = re.search(r"code: (.*?)\n *name:", read("python/gdal_refs/errors.py"), re.S).group(1)
        listed = {quoted(cells[0])[0] for cells in rows(read("docs/error-codes.md"))}
        self.assertEqual(set(re.findall(r'"(\w+)"', codes)), listed - {"OK", "NOMEM"})


def section_of_enum(header):
    return re.search(r"enum REFS_MUST_CHECK refs_status \{(.*?)\}", header, re.S).group(1)


class Names(unittest.TestCase):
    """What stands between backquotes on the pages for those who carry on."""
    PAGES = ["docs/architecture.md", "docs/pixel.md", "docs/code-rules.md", "CONTRIBUTING.md", "docs/security.md", "docs/limits.md", "docs/adding.md", "docs/parts.md", *names("docs/cf*.md"),
             *names("docs/decisions/*.md")]

    def test_of_functions_and_types_are_in_the_code(self):
        others = [path for pattern in ("cmake/*.cmake", "autotest/*/*.cc", "autotest/unit/**/*.cc",
                                       "CMakeLists.txt", "frmts/refs/*/CMakeLists.txt", "qgis/*/*.py")
                  for path in names(pattern)]
        known = set(re.findall(r"\w+", CODE + "".join(map(read, others))))
        for page in self.PAGES:
            for text in quoted(read(page)):
                for name in re.findall(r"\b(?:refs_|Refs)\w+", text):
                    with self.subTest(page=page, name=name):
                        self.assertTrue(name in known or name.endswith("_"))

    def test_of_files_are_in_the_tree(self):
        every = {os.path.relpath(os.path.join(folder, file), ROOT)
                 for top in (".ci", ".vale", "autotest", "cmake", "data", "docs", "examples", "frmts", "include", "packaging", "qgis")
                 for folder, folders, files in os.walk(os.path.join(ROOT, top))
                 for file in [*files, *folders]} | set(os.listdir(ROOT))
        endings = (".c", ".h", ".cpp", ".cc", ".py", ".sh", ".md", ".cmake", ".txt")
        for page in self.PAGES:
            for text in quoted(read(page)):
                name = text.strip("/")
                if re.fullmatch(r"[\w./-]+", name) and (
                        name.endswith(endings) or name.split("/")[0] in os.listdir(ROOT)):
                    with self.subTest(page=page, name=name):
                        self.assertTrue(name in every or any(
                            path.endswith("/" + name) for path in every) or "build/" in name)


if __name__ == "__main__":
    unittest.main()
