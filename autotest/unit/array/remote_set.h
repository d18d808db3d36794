/* remote_set.h -- the set of a server that reads references from files. */
#ifndef REFS_TEST_REMOTE_SET_H
#define REFS_TEST_REMOTE_SET_H

#include <atomic>

#include "refs/refset.h"

/** Arrays "a" and "b", of four chunks that are absent; counts lookups of chunks. */
refs_set *remoteSet(std::atomic<unsigned> *nLookups);

#endif
