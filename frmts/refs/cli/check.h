/* check.h -- the parts of the verb check: targets and their states (check.c), reads
 * (check_reads.c), chunks (check_chunks.c), messages of GRIB (check_messages.c), fragments of
 * masters (check_fragments.c). */
#ifndef REFS_CLI_CHECK_H
#define REFS_CLI_CHECK_H

#include <stdatomic.h>

#include "findings.h"
#include "refs/array.h"
#include "tool.h"

/** A file that the set refers to. */
typedef struct tool_target {
    uint64_t end; /**< behind the last byte that is referred to */
    char array[128];
    bool is_filler;   /**< it stands for missing fragments of a master, and has no data */
    bool is_measured; /**< `now` and `problem` are known */
    refs_vfs_validators now;
    char *problem; /**< why it cannot be opened; or NULL */
    refs_status status;
} tool_target;

typedef struct tool_checking {
    const tool_session *session;
    const tool_arguments *arguments;
    tool_set set;
    refs_intern locations;
    tool_target *targets; /**< one for each */
    size_t capacity;
    uint32_t last;
    bool is_remote;    /**< any of them */
    uint64_t n_unused; /**< recorded sources that nothing refers to */
    tool_findings findings;
} tool_checking;

/** The number of the target at a location, which is added where it is new. */
refs_status tool_check_target(tool_checking *at, refs_str location, uint32_t *id, refs_error *err);

/** Threads that work at a time: more than there are processors where targets are remote. */
unsigned tool_check_n_threads(const tool_checking *at);

/* -- check_messages.c -----------------------------------------------------------------------------
 */

/** What an array says of the messages of GRIB that it is made of. */
typedef struct tool_messages tool_messages;

/** Reads the coordinates; *messages is NULL for arrays of anything else. To be freed also after a
 * failure. */
refs_status tool_messages_open(const tool_checking *at, const refs_array_meta *meta,
                               tool_messages **messages, refs_error *err);
void tool_messages_free(tool_messages *messages);

/** The message at bytes [offset, offset + length) of a file, whose values are the elements of the
 * array from `start` on. */
typedef struct tool_message {
    const tool_messages *messages;
    const char *location;
    uint64_t offset, length;
    const uint64_t *start;
} tool_message;

/** REFS_CHANGED, with the key and the first property that is not what the array says. Messages that
 * cannot be read are left to reads of their values. Thread-safe. */
refs_status tool_message_compare(const tool_message *message, refs_error *err);

/* -- check_reads.c --------------------------------------------------------------------------------
 *
 * Regions of arrays are read several at a time, and their values dropped. */

#define TOOL_NO_TARGET UINT32_MAX

typedef struct tool_read {
    const refs_array_meta *meta;
    refs_array *array;
    const uint64_t *start, *count; /**< copied */
    uint64_t encoded;              /**< bytes that are held besides the values; 0: unknown */
    uint32_t target;               /**< failures are reported for it; TOOL_NO_TARGET: the array */
    const tool_messages *messages; /**< that the values are one of, or NULL … */
    uint64_t offset, length;       /**< … in these bytes of the target */
    atomic_bool *is_unsupported;   /**< of the array, borrowed: set by the first read that finds no
                                        codec, which is reported as TOOL_NOT_DECODED; others are
                                        skipped. NULL: such reads fail like others */
} tool_read;

typedef struct tool_reads {
    tool_checking *at;
    const char *items; /**< the plural that progress shows */
    size_t n_all;      /**< of them there will be; 0: not known */
    size_t n_before;   /**< were carried out */
    size_t n, capacity;
    struct tool_queued_read *queued;
    uint64_t largest; /**< bytes that one of these holds */
} tool_reads;

/** Queues a read. May carry out those that are queued; failures of these are findings. */
refs_status tool_reads_add(tool_reads *reads, const tool_read *read, refs_error *err);

/** Carries out what is queued. */
refs_status tool_reads_finish(tool_reads *reads, refs_error *err);
void tool_reads_clear(tool_reads *reads);

/* -- the others -----------------------------------------------------------------------------------
 */

/** Decodes chunks: all, or a sample. */
refs_status tool_check_chunks(tool_checking *at, refs_error *err);

/** Opens the fragments of a master as readers open them, and reads one value of each, or all. */
refs_status tool_check_fragments(tool_checking *at, refs_error *err);

#endif
