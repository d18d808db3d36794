#!/bin/sh
# usage: subject.sh FILE
#
# Fails unless the first line of a commit message is "area: verb object", of at most 72 characters.
head -n 1 "$1" | grep -Eq '^.{1,72}$' && head -n 1 "$1" | grep -Eq '^[A-Za-z0-9_.-]+(, [A-Za-z0-9_.-]+)*: [a-zA-Z`].*[^.]$' && exit
echo "expected \"area: verb object\" of at most 72 characters, found \"$(head -n 1 "$1")\"" >&2
exit 1
