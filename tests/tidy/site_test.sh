#!/usr/bin/env bash
# Builds the site of the documents: each page is there, and each link within it leads somewhere. Where Debian's
# python3-markdown is not installed there is nothing to build with.
set -euo pipefail

if ! /usr/bin/python3 -c 'import markdown' 2>/dev/null; then
  echo "python3-markdown is not installed; skipped"
  exit 0
fi

# Bazel links this test's data to where the repository lies.
cd "$(dirname "$(dirname "$(dirname "$(readlink -f tests/tidy/BUILD)")")")"
site="$TEST_TMPDIR/site"
PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 tools/site/make_site.py "$site"
/usr/bin/python3 - "$site" <<'END'
import pathlib, re, sys

site = pathlib.Path(sys.argv[1])
pages = {page: page.read_text() for page in site.rglob("*.html")}
assert len(pages) > 30, sorted(pages)
for page, text in pages.items():
    for target, place in re.findall(r'(?:href|src)="(?![a-z]+:)([^"#]*)(?:#([^"]*))?"', text):
        to = (page.parent / target).resolve() if target else page
        made = to.name == "help.html" or to.exists()  # which needs the program
        assert made, f"{page}: a link to {target}, which is not there"
        assert not place or to not in pages or f'id="{place}"' in pages[to], f"{page}: no {place} in {target}"
assert "<table>" in pages[site / "index.html"], "expected the tables of README.md"
END
