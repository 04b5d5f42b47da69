#!/usr/bin/env bash
# Writes page_files.cc, which holds the bytes of these files: embed.sh page.html page.js page.css
set -euo pipefail

# array NAME FILE
array() {
  echo "constexpr unsigned char $1[] = {"
  od -An -v -tu1 "$2" | sed 's/  */,/g; s/^,//; s/$/,/'
  echo "};"
}

# row PATH TYPE NAME
row() { echo "      {\"$1\", \"$2; charset=utf-8\", {reinterpret_cast<const char*>($3), sizeof $3}},"; }

echo '// Made by embed.sh.'
echo '#include "tools/page/job_page.h"'
echo 'namespace banyan {'
echo 'namespace {'
array kHtml "$1"
array kScript "$2"
array kStyle "$3"
echo '}  // namespace'
echo 'std::vector<PageFile> PageFiles() {'
echo '  return {'
row / text/html kHtml
row /page.js text/javascript kScript
row /page.css text/css kStyle
echo '  };'
echo '}'
echo '}  // namespace banyan'
