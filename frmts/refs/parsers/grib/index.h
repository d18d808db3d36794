/* index.h -- sets of GRIB files by their index sidecars, "x.grib2.idx", mostly without reading the
 * files.
 *
 * An index has the offsets of messages, and abbreviations of their fields. The meaning of
 * abbreviations is learnt from messages: the first message of each key (the abbreviations without
 * times and member) is read; later ones with the same key, in all files that are scanned together,
 * have the same properties.
 */
#ifndef REFS_PARSERS_GRIB_INDEX_H
#define REFS_PARSERS_GRIB_INDEX_H

#include "field.h"
#include "format.h"

/** A line of an index: one field of a message. */
typedef struct grib_entry {
    size_t line;     /**< counted from 1 … */
    refs_str text;   /**< … and its text, while that is in memory */
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

/** Whether a file that begins with `head` is an index: of wgrib2, or ECMWF's lines of JSON. */
bool refs_scan__grib_index_sniff(refs_bytes head);

/** Parses all lines. REFS_CORRUPT names an invalid line. */
refs_status refs_scan__grib_index_parse(refs_str text, grib_index *index, refs_error *err);
void refs_scan__grib_index_clear(grib_index *index);

/** Sets *offset to the offset of the message in a line of an index; false for an invalid line. */
bool refs_scan__grib_index_offset(refs_str line, uint64_t *offset);

/** Adds the fields of the index, the source of the job; sets *file to the number of the GRIB
 * file. */
refs_status refs_scan__grib_list_index(const refs_scan_job *job, grib_list *list, uint32_t *file,
                                       refs_error *err);

/* -- prototypes.c ------------------------------------------------------------------------------ */

/** The known fields of keys; `list` owns their grids and kinds. */
typedef struct grib_prototypes {
    refs_intern keys; /**< key number i means list.fields[i] */
    grib_list list;
} grib_prototypes;

/** Waits until no other scan learns keys. Sets *n_missing to the number of entries of `index` with
 * an unknown key, or without times. If that is zero, adds a field for each entry to `list`; else
 * this scan learns keys until it calls refs_scan__grib_learnt. */
refs_status refs_scan__grib_apply(refs_scan_shared *shared, const grib_index *index,
                                  grib_list *list, size_t *n_missing, refs_error *err);

/** Whether the message of an entry must be read. Only called by the scan that learns. */
bool refs_scan__grib_is_missing(refs_scan_shared *shared, const grib_index *index,
                                const grib_entry *entry);

/** Records the meaning of a key: a field of `from`; NULL: the message is omitted. */
refs_status refs_scan__grib_learn(refs_scan_shared *shared, refs_str key, const grib_list *from,
                                  const grib_field *field, refs_error *err);
void refs_scan__grib_learnt(refs_scan_shared *shared);

/** Whether a store listed the file at `location`; sets its size and modification time. */
bool refs_scan__grib_listed(refs_scan_shared *shared, const char *location, uint64_t *size,
                            int64_t *modified_s);

/** Whether to compare one message of an index with `n` entries with the file at `location`: for the
 * first file after keys were learnt, for the first one in each folder, and for one in a thousand
 * messages. */
bool refs_scan__grib_is_sample(refs_scan_shared *shared, const char *location, size_t n);

#endif
