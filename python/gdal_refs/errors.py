"""What can go wrong."""


class RefsError(Exception):
    """A failure of REFS. `str(error)` says what failed, what was expected and what was found.

    code: "INVALID", "NOT_FOUND", "UNSUPPORTED", "CORRUPT", "IO", "LIMIT", "CANCELLED", "FORBIDDEN" or "CHANGED"
        (docs/error-codes.md says what each calls for)
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


class RefsForbiddenError(RefsError, PermissionError):
    """Credentials or permissions do not suffice."""

    __str__ = Exception.__str__


_KINDS = {"NOT_FOUND": RefsNotFoundError, "FORBIDDEN": RefsForbiddenError}


def make(message, code, name, key, url):
    """The exception of a failure, for the extension."""
    return _KINDS.get(code, RefsError)(message, code, name, key, url)
