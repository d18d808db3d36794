"""What can go wrong."""


class RefsError(Exception):
    """A failure of REFS. `str(error)` says what failed, what was expected and what was found.

    code: "INVALID", "NOT_FOUND", "UNSUPPORTED", "CORRUPT", "IO", "LIMIT" or "CANCELLED"
    name: what was opened
    key: the key of the chunk or document in the set, or ""
    url: the file that it is in, or ""
    """

    def __init__(self, message, code="IO", name="", key="", url=""):
        super().__init__(message)
        self.code, self.name, self.key, self.url = code, name, key, url

    def __reduce__(self):
        return type(self), (str(self), self.code, self.name, self.key, self.url)


class RefsNotFoundError(RefsError, FileNotFoundError):
    """Nothing has this name."""

    __str__ = Exception.__str__


def make(message, code, name, key, url):
    """The exception of a failure, for the extension."""
    kind = RefsNotFoundError if code == "NOT_FOUND" else RefsError
    return kind(message, code, name, key, url)
