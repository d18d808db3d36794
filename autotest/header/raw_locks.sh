#!/bin/sh
# usage: raw_locks.sh FOLDER
#
# Fails where a source takes a lock, or waits, without refs_lock, refs_wait or RefsGuard: a child of
# fork(2) would inherit it held (fork.h).
set -eu
raw='pthread_mutex_(try)?lock|pthread_mutex_unlock|pthread_cond_(timed)?wait|pthread_rwlock'
raw="$raw|std::(lock_guard|unique_lock|scoped_lock|condition_variable)"
if grep -rnE "$raw" "$1" --include='*.c' --include='*.cpp' --include='*.h' |
    grep -vE '/base/fork\.c:'; then
    exit 1
fi
