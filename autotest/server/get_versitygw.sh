#!/bin/sh
# usage: get_versitygw.sh
#
# Builds the S3 server that tests write to, outside of the repository, with Go: into
# ~/.cache/refs, where object_store.py looks for it. Tests that need it are left out without it.
set -eu
to=${XDG_CACHE_HOME:-$HOME/.cache}/refs
mkdir -p "$to"
if [ -x "$to/versitygw" ]; then exit 0; fi
if ! command -v go >/dev/null; then
    echo "get_versitygw.sh: needs Go (Debian: golang-go)" >&2
    exit 77
fi
GOBIN=$to go install github.com/versity/versitygw/cmd/versitygw@latest
