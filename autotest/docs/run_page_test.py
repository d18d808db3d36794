"""run_page.py, which runs the blocks of pages, finds what is wrong in them."""

import os
import subprocess
import sys
import tempfile
import unittest

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "run_page.py")
SERVER = os.path.join(os.path.dirname(RUNNER), "..", "server", "range_server.py")


def block(info, *lines):
    return "\n".join([f"```{info}", *lines, "```", ""])


class Runner(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = folder.name
        os.makedirs(os.path.join(self.root, "docs"))
        os.makedirs(os.path.join(self.root, "build"))

    def run_page(self, *parts):
        page = os.path.join(self.root, "docs", "page.md")
        with open(page, "w", encoding="utf-8") as file:
            file.write("\n".join(["# Page", "", *parts]))
        return subprocess.run([sys.executable, RUNNER, page, self.root, self.root],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def assert_fine(self, *parts):
        done = self.run_page(*parts)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def assert_wrong(self, message, *parts):
        done = self.run_page(*parts)
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertRegex(done.stderr, message)

    def test_commands_share_a_shell(self):
        self.assertIn("seen", self.assert_fine(block("sh", "a=seen"), block("sh", "echo $a")))

    def test_first_command_that_fails_is_found(self):
        self.assert_wrong("a command failed with 1", block("sh", "false", "true"))
        self.assert_wrong("nosuchcommand", block("sh", "true"), block("sh", "nosuchcommand"))

    def test_python_runs_where_the_shell_is(self):
        self.assert_fine(block("sh", "export A=3"), block("python", "import os", "a = os.environ['A']"),
                         block("sh", "true"), block("python continued", "assert a == '3'"))
        self.assert_wrong("NameError", block("python", "a = 1"), block("python", "a"))
        self.assert_wrong("AssertionError", block("python", "assert False"))

    def test_python_that_needs_what_is_not_there_is_left_out(self):
        said = self.assert_fine(block("python needs=nosuchmodule,sys", "import nosuchmodule"),
                                block("text output", "anything"))
        self.assertIn("left out: needs nosuchmodule", said)

    def test_commands_that_need_a_program_that_is_not_there_are_left_out(self):
        said = self.assert_fine(block("sh needs=nosuchprogram,sh", "nosuchprogram"), block("sh needs=sh", "true"))
        self.assertIn("left out: needs nosuchprogram", said)

    def test_output_is_compared(self):
        commands = block("sh", "printf 'a\\nbcd\\ne\\n'")
        self.assert_fine(commands, block("text output", "a", "b…", "e"))
        self.assert_fine(commands, block("text output", "…", "e"))
        self.assert_wrong("something else", commands, block("text output", "a", "b", "e"))
        self.assert_wrong("something else", commands, block("text output", "a", "…", "b…"))
        self.assert_wrong("what printed this", block("text output", "a"))

    def test_blocks_say_what_they_are(self):
        for info in ("", "text", "bash", "sh sometimes", "python later", "c"):
            self.assert_wrong("block|file=", block(info, "true"))
        self.assert_wrong("indented code", "", "    true", "")
        self.assert_wrong("not closed", "```sh\ntrue")

    def test_forms_are_no_commands(self):
        self.assert_fine(block("text form", 'REFS:"<set>"'))
        self.assert_wrong("is a command", block("text form", "A=b ls REFS:x"))
        self.assert_fine(block("text drawing", "ls ──> b"))
        self.assert_wrong("without arrows", block("text drawing", "a ──> b", "ls"))

    def test_what_is_not_run_is_looked_at(self):
        self.assert_fine(block("sh long", "false && cat docs/page.md"))
        self.assert_wrong("there is no docs/other.md", block("sh window", "true docs/other.md"))
        self.assert_wrong("does not understand", block("sh long", "if true"))
        self.assert_wrong("is no program", block("sh long", "true | docs/page.md"))

    def test_root_installs_elsewhere(self):
        self.assert_fine(block("sh as-root", 'test -n "$DESTDIR"'), block("sh", 'test -z "${DESTDIR-}"'))

    def test_files_are_written(self):
        self.assert_fine(block("c file=build/a/b.c", "int a;"), block("sh", "grep -x 'int a;' build/a/b.c"))
        self.assert_fine(block("c file=build/b.c", "int a;"), block("c in=build/b.c", "int  a;"))
        self.assert_wrong("no such lines", block("c file=build/b.c", "int a;"),
                          block("c in=build/b.c", "int b;"))

    def test_server_is_what_example_org_is_for_readers(self):
        with open(os.path.join(self.root, "build", "file"), "w", encoding="utf-8") as file:
            file.write("content\n")
        fetch = f"{sys.executable} -c 'import urllib.request as r; print(r.urlopen(\"%s\").read())'"
        self.assert_fine(
            block("sh background", f"{sys.executable} {SERVER} build build/log"),
            block("sh", fetch % "https://example.org/file", "echo https://example.org/file"),
            block("text output", "b'content\\n'", "https://example.org/file"))
        self.assert_wrong("does not say its port", block("sh background", "echo no port"))

    def test_pages_change_nothing_outside_of_build(self):
        self.assert_fine(block("sh", "echo > build/new"))
        self.assert_wrong("changes files: docs/new", block("sh", "echo > docs/new"))

    def test_pictures_exist(self):
        self.assert_wrong("no pictures/a.png", "![A](pictures/a.png)")


if __name__ == "__main__":
    unittest.main()
