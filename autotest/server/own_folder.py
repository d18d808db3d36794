"""Tests that have a folder of their own."""

import glob
import os
import subprocess
import tempfile
import unittest


class OwnFolder(unittest.TestCase):
    """A folder for each test, gone at its end."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, *names):
        return os.path.join(self.folder, *names)


class VerbsInOwnFolder(OwnFolder):
    """Tests that run verbs of the program `refs` inside of their folder."""

    refs = None  # the program

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def run_verb(self, *arguments, status=0):
        """Runs it without the outputs of the verb before, o*, and returns its messages."""
        for name in glob.glob("o*"):
            subprocess.run(["rm", "-r", name], check=True)
        done = subprocess.run([self.refs, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{arguments}: {done.stderr}")
        return done.stderr
