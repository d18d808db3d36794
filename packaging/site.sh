#!/bin/sh
# usage: site.sh
#
# Builds the site of the documentation in build/site, in a virtual environment with mkdocs-material of PyPI
# (build/site-env). A link that leads nowhere, or a page that docs/index.md does not list, ends it with an error.
set -eu
cd "$(dirname "$0")/.."

env=build/site-env
if [ ! -x $env/bin/mkdocs ]; then
    "${PYTHON:-python3}" -m venv $env
    $env/bin/pip install -q mkdocs-material==9.8.2
fi

# Pages, and the files that they link to, lie as in the repository.
pages=build/site-pages
rm -rf $pages
mkdir -p $pages
for file in *.md LICENSE docs data/README.md data/demo.sh python/README.md examples include \
    autotest/DATA.md autotest/bench/README.md autotest/fuzz/README.md; do
    mkdir -p "$pages/$(dirname "$file")"
    cp -R "$file" "$pages/$(dirname "$file")/"
done
NO_MKDOCS_2_WARNING=1 $env/bin/mkdocs build --strict
echo "build/site: $(find build/site -name '*.html' | wc -l) pages"
