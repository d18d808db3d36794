"""What mkdocs.yml leaves to code: the navigation, and Markdown as GitHub reads it."""

import os
import re

ENTRY = re.compile(r"^\* \[`?([^\]`]+)`?\]\(([^)#]+)\)", re.M)
FENCE = re.compile(r"^( *)```(\w*)")
ITEM = re.compile(r" *([*-]|\d+\.) ")


def read(pages, path):
    with open(os.path.join(pages, path), encoding="utf-8") as page:
        return page.read()


def groups(pages):
    """(title, [{title of page: path}]) of each group of docs/index.md."""
    for title, text in re.findall(r"^## ([^\n]*)\n(.*?)(?=^## |\Z)", read(pages, "docs/index.md"), re.M | re.S):
        yield title, [{name: f"docs/{path}"} for name, path in ENTRY.findall(text)]


def decisions(pages):
    table = re.findall(r"^\| (\d+) \| \[(.*?)\]\((.*?)\)", read(pages, "docs/decisions/index.md"), re.M)
    return ["docs/decisions/index.md", *({f"{number}. {title}": f"docs/decisions/{path}"} for number, title, path in table)]


def paths(entry):
    """The pages below an entry of the navigation."""
    if isinstance(entry, str):
        return [entry]
    return [path for part in (entry.values() if isinstance(entry, dict) else entry) for path in paths(part)]


def navigation(pages):
    """The first page, the groups of docs/index.md, and what they do not list for those who work on the project."""
    found = [{"REFS": "README.md"}, {"All pages": "docs/index.md"}]
    for title, entries in groups(pages):
        nested = [{"Decisions": decisions(pages)} if entry == {"Decisions": "docs/decisions/index.md"} else entry for entry in entries]
        found.append({title: nested})
    listed = set(paths(found))
    every = sorted(os.path.relpath(os.path.join(folder, file), pages)
                   for folder, _, files in os.walk(pages) for file in files if file.endswith(".md"))
    rest = [path for path in every if path not in listed and not path.startswith("docs/")]
    return [*found, {"Project": rest}]


def on_config(config):
    config.nav = navigation(config.docs_dir)
    return config


def paragraph(lines):
    """The first line of the paragraph that the lines end with; of a list without empty lines, its first item."""
    first = "* "
    for line in reversed(lines):
        if not line.strip():
            break
        first = line
    return first if not first.startswith(" ") else first.lstrip("*- ")


def on_page_markdown(markdown, **_):
    """Python-Markdown needs four spaces within an item, an empty line before a list, and one word behind a fence."""
    lines, fence = [], None
    for line in markdown.splitlines():
        indent = len(line) - len(line.lstrip())
        opening = FENCE.match(line)
        base = fence if fence is not None else indent
        if base in (2, 3) and line.strip():
            line = " " * (4 - base) + line
        if opening:
            line = line if fence is not None else FENCE.match(line)[0]
            fence = None if fence is not None else indent
        elif fence is None and not indent and ITEM.match(line) and not ITEM.match(paragraph(lines)):
            lines.append("")
        lines.append(line)
    return "\n".join(lines) + "\n"
