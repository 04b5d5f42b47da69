#!/usr/bin/python3
"""Makes a site of HTML pages of the documents: make_site.py FOLDER [PROGRAM].

It runs in the root of the repository. Every document becomes a page at its own path, README.md the index.html of its
folder. With PROGRAM, the command banyan, the help of each command becomes a page too. The interfaces for Python, C++ and C are
pages made of docstrings and headers. Needs Debian's python3-markdown.
"""
import glob
import html
import importlib
import os
import posixpath
import pydoc
import re
import shutil
import subprocess
import sys

import markdown

DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "deploy/README.md", "docs/**/*.md",
             "bench/reports/*.md"]
HEADERS = ["runtime/session/session.h", "runtime/local_node.h", "runtime/local_updates/local_updates.h",
           "runtime/c_api/banyan.h"]
MODULES = ["banyan", "banyan.torch", "banyan.testing"]
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title} - Banyan</title><style>
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; color: #222; }}
nav {{ font-size: 14px; border-bottom: 1px solid #ddd; padding-bottom: .5rem; }}
nav a {{ margin-right: .8rem; }}
pre {{ background: #f4f6f4; padding: .7rem; overflow-x: auto; }}
code {{ font-size: 14px; background: #f4f6f4; }}
table {{ border-collapse: collapse; display: block; overflow-x: auto; }}
td, th {{ border: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top; }}
img {{ max-width: 100%; }}
a {{ color: #1a6b4a; }}
</style></head><body><nav>{nav}</nav>
{body}
</body></html>
"""
NAVIGATION = [("Banyan", "index.html"), ("Documents", "docs/index.html"), ("Tutorial", "docs/tutorial.html"),
              ("Python", "docs/python.html"), ("overlay.yaml", "docs/reference/overlay.html"),
              ("Commands", "docs/reference/help.html"), ("Troubleshooting", "docs/troubleshooting.html"),
              ("Python interface", "api/banyan.html"), ("C++ and C", "api/headers.html")]


def page_of(document):
    return re.sub(r"README\.html$", "index.html", re.sub(r"\.md$", ".html", document))


def anchor(text, separator):
    """Returns the anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", text.lower()).strip().replace(" ", separator)


def write(folder, page, title, body):
    depth = page.count("/")
    nav = "".join(f'<a href="{"../" * depth}{target}">{text}</a>' for text, target in NAVIGATION)
    path = os.path.join(folder, page)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(PAGE.format(title=html.escape(title), nav=nav, body=body))


def write_document(folder, document, documents):
    with open(document, encoding="utf-8") as file:
        text = file.read()
    body = markdown.markdown(text, extensions=["tables", "fenced_code", "sane_lists", "toc"],
                             extension_configs={"toc": {"slugify": anchor}})

    def follow(match):
        kind, target, place = match[1], match[2], match[3] or ""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(document), target))
        if path in documents:
            return f'{kind}="{page_of(target)}{place}"'
        if os.path.isfile(path):
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            shutil.copy(path, os.path.join(folder, path))
            return match[0]
        return f'title="{html.escape(path)}, in the source"'  # a folder

    body = re.sub(r'\b(href|src)="(?![a-z]+:|#)([^"#]+)(#[^"]*)?"', follow, body)
    write(folder, page_of(document), re.search(r"^# (.*)", text, re.MULTILINE)[1], body)


def write_help(folder, program):
    def ask(*arguments):
        return subprocess.run([program, *arguments, "--help"], capture_output=True, text=True, check=True).stdout

    body = "<h1>Commands</h1>"
    with open("tools/all_commands.cc", encoding="utf-8") as file:
        for command in re.findall(r'\{"([a-z][a-z-]*)",\s*"', file.read()):
            body += f'<h2 id="{command}">banyan {command}</h2><pre>{html.escape(ask(command))}</pre>'
    write(folder, "docs/reference/help.html", "Commands", body)


def write_interfaces(folder):
    sys.path.insert(0, os.path.abspath("python"))
    body = ""
    for name in MODULES:
        try:
            module = importlib.import_module(name)
            vars(module).setdefault("__version__", "")  # which asks the library, and that may not be built
        except ImportError as error:
            print(f"make_site.py: left out {name}: {error}", file=sys.stderr)
            continue
        body += f"<h1>{name}</h1><pre>{html.escape(pydoc.plain(pydoc.TextDoc().docmodule(module)))}</pre>"
    write(folder, "api/banyan.html", "Python interface", body)
    body = "<h1>C++ and C</h1>"
    for header in HEADERS:
        with open(header, encoding="utf-8") as file:
            body += f"<h2>banyan/{os.path.basename(header)}</h2><pre>{html.escape(file.read())}</pre>"
    write(folder, "api/headers.html", "C++ and C", body)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: make_site.py FOLDER [PROGRAM]")
    folder = sys.argv[1]
    documents = {path for pattern in DOCUMENTS for path in glob.glob(pattern, recursive=True)}
    for document in sorted(documents):
        write_document(folder, document, documents)
    if len(sys.argv) == 3:
        write_help(folder, sys.argv[2])
    write_interfaces(folder)
    print(f"{len(documents)} documents, first page {os.path.join(folder, 'index.html')}")


if __name__ == "__main__":
    main()
