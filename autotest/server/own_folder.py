"""Tests that have a folder of their own."""

import os
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
