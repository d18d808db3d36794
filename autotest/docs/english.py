"""The pages keep to the rules of .vale/REFS, which are those of vale (`vale .`): this reads the same files with what Python
has, so that no test needs vale. Messages and comments of the sources keep to the same rules.

usage: english.py ROOT
"""

import pathlib
import re
import sys

# Rules do not apply to these, for the reason given.
EXCEPTIONS = {
    "docs/decisions/0025-modules.md": "says why 'room' became 'module'",
}
PAGES = ("*.md", "docs/*.md", "docs/decisions/*.md", "python/*.md", "data/*.md", "autotest/*.md", "autotest/*/*.md")
SOURCES = ("frmts/refs/**/*.[ch]", "frmts/refs/**/*.cpp", "include/**/*.h", "examples/*.c")
LITERAL_OR_COMMENT = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*|/\*.*?\*/|//[^\n]*', re.S)
MARKS = re.compile(r"^\s*(?:/\*+<?|\*/?|//+<?)\s?|\*/$", re.M)
ENTRY = re.compile(r"^  (?:- '(.*)'|([^:#\n]+|\(\?:.*?\)[^:]*): (.*))$", re.M)
BLOCK = re.compile(r"^ *```.*?^ *```$", re.M | re.S)
SPAN = re.compile(r"`[^`\n]*(?:\n[^`\n]*)?`|\]\([^)]*\)")


def rules(root, name):
    """(pattern, what to write instead, or None) of a file of rules."""
    text = (root / ".vale" / "REFS" / name).read_text(encoding="utf-8")
    return [(token.replace("''", "'") or word, instead or None) for token, word, instead in ENTRY.findall(text)]


def blank(match):
    return re.sub(r"[^\n]", "`", match[0])


def sentences(text):
    """(line, sentence) of a page without its code."""
    text = SPAN.sub(blank, BLOCK.sub(blank, text))
    for match in re.finditer(r"(?:(?<=^)|(?<=\| )|(?<=[.!?] )|(?<=[.!?]\n)|(?<=[.!?]\n  ))[^\s|#>].*?(?:[.!?:](?=\s|$)|\n\n|(?= \|)|\n(?=\s*[*-] )|\Z)",
                             re.sub(r"^(\s*(?:[*-]|\d+\.) |#+ )", lambda m: " " * (len(m[0]) - 0), text, flags=re.M), re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, " ".join(match[0].split())


def prose(code):
    """(line, sentence) of the string literals and comments of a source."""
    for match in LITERAL_OR_COMMENT.finditer(code):
        text = re.sub(r'"\s*"', "", match[0])[1:-1] if match[0][0] == '"' else MARKS.sub("", match[0])
        for sentence in re.split(r"(?<=[.!?:])\s+(?=[A-Z])", text):
            yield code.count("\n", 0, match.start()) + 1, " ".join(sentence.split())


def main(root):
    openings = [re.compile(pattern) for pattern, _ in rules(root, "Openings.yml")]
    words = [(re.compile(rf"\b{pattern}\b", re.I), instead) for pattern, instead in rules(root, "Words.yml")]
    found = checked = 0
    for patterns, sentences_of in ((PAGES, sentences), (SOURCES, prose)):
        for file in sorted(file for pattern in patterns for file in root.glob(pattern)):
            name = str(file.relative_to(root))
            if name in EXCEPTIONS:
                continue
            for line, sentence in sentences_of(file.read_text(encoding="utf-8")):
                checked += 1
                said = [f"begin with the subject: {sentence[:60]}" for opening in openings if opening.search(sentence)]
                said += [f"write {instead!r} instead of {match[0]!r}" for word, instead in words for match in word.finditer(sentence)]
                for text in said:
                    print(f"{name}:{line}: {text}")
                found += len(said)
    print(f"{checked} sentences, {len(openings) + len(words)} rules, {found} violations")
    return 1 if found or checked < 10000 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
