/* index.h -- sets of GRIB files by the indices beside them, "x.grib2.idx", the files untouched.
 *
 * An index says where messages are, and in words what they are. How the words are to be understood
 * is learnt from messages: the first of each key (the words without times and member) is read,
 * those that follow, of this file and of others that are scanned together, are like it.
 */
#ifndef REFS_PARSERS_GRIB_INDEX_H
#define REFS_PARSERS_GRIB_INDEX_H

#include "field.h"
#include "format.h"

/** A line of an index: one field of a message. */
typedef struct grib_entry {
    size_t line;     /**< counted from 1 … */
    refs_str text;   /**< … and what it says, while that is there */
    uint64_t offset; /**< of the message … */
    uint64_t length; /**< … 0: not known */
    unsigned number; /**< of the field in the message */
    uint32_t key;    /**< in grib_index.keys */
    bool has_times;  /**< the next four are known */
    int64_t time_s;  /**< since 1970, of the analysis */
    double step_hours;
    double length_hours; /**< of the interval of a statistic; negative: not said */
    int64_t member;      /**< negative: not said */
} grib_entry;

typedef struct grib_index {
    grib_entry *entries; /**< by offset and number */
    size_t n, capacity;
    refs_intern keys;
} grib_index;

/** Whether a file that begins so is an index: wgrib2's, or lines of JSON as ECMWF has them. */
bool refs_scan__grib_index_sniff(refs_bytes head);

/** Reads all lines. REFS_CORRUPT names a line that is none of an index. */
refs_status refs_scan__grib_index_parse(refs_str text, grib_index *index, refs_error *err);
void refs_scan__grib_index_clear(grib_index *index);

/** The byte of a message that a line of an index names; false where it is none of an index. */
bool refs_scan__grib_index_offset(refs_str line, uint64_t *offset);

/** Adds the fields that the index, which is the source of the job, lists; sets *file to the number
 * of the GRIB file. */
refs_status refs_scan__grib_list_index(const refs_scan_job *job, grib_list *list, uint32_t *file,
                                       refs_error *err);

/* -- prototypes.c ------------------------------------------------------------------------------ */

/** The fields that keys stand for, as far as they are known; `list` owns their grids and kinds. */
typedef struct grib_prototypes {
    refs_intern keys; /**< key number i stands for list.fields[i] */
    grib_list list;
} grib_prototypes;

/** Waits until no other scan learns keys. Then *n_missing is how many entries of `index` have a key
 * that is not known, or no times; where that is zero, `list` gets a field for each entry; else this
 * scan is the one that learns, until it calls refs_scan__grib_learnt. */
refs_status refs_scan__grib_apply(refs_scan_shared *shared, const grib_index *index,
                                  grib_list *list, size_t *n_missing, refs_error *err);

/** Whether an entry needs its message to be read. To be asked by the scan that learns. */
bool refs_scan__grib_is_missing(refs_scan_shared *shared, const grib_index *index,
                                const grib_entry *entry);

/** What a key was found to stand for: a field of `from`; NULL: it is left out. */
refs_status refs_scan__grib_learn(refs_scan_shared *shared, refs_str key, const grib_list *from,
                                  const grib_field *field, refs_error *err);
void refs_scan__grib_learnt(refs_scan_shared *shared);

/** Whether a store listed the file at `location`: its size, and when it was modified. */
bool refs_scan__grib_listed(refs_scan_shared *shared, const char *location, uint64_t *size,
                            int64_t *modified_s);

/** Whether one message of an index with `n` entries is to be compared with the file at `location`:
 * of the first after keys were learnt, of the first in each folder, and of one in a thousand
 * messages. */
bool refs_scan__grib_is_sample(refs_scan_shared *shared, const char *location, size_t n);

#endif
