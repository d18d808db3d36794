/* validators.c -- see validators.h. */
#include "refs/validators.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "refs/sha256.h"

refs_status refs_validators_fail(const char *location, refs_error *err) {
    return refs_fail(err, REFS_NOT_FOUND, "%s: cannot stat it: no size and no date", location);
}

static bool is_weak(const char *etag) {
    return strncmp(etag, "W/", 2) == 0;
}

static refs_str opaque_of(refs_str etag) {
    if (refs_str_starts(etag, "W/")) etag = refs_str_part(etag, 2, etag.size);
    if (etag.size >= 2 && refs_str_starts(etag, "\"") && refs_str_ends(etag, "\""))
        etag = refs_str_part(etag, 1, etag.size - 1);
    return etag;
}

refs_str refs_etag_opaque(const char *etag) {
    return opaque_of(refs_str_from(etag));
}

void refs_validators_set_etag(refs_vfs_validators *validators, refs_str etag) {
    const size_t size = sizeof validators->etag;
    const refs_str opaque = opaque_of(etag);
    uint8_t hash[REFS_SHA256_SIZE];
    char hex[REFS_SHA256_TEXT];
    if (opaque.size < size - strlen("W/\"\"")) {
        (void)snprintf(validators->etag, size, "%.*s", REFS_STR_ARG(etag));
        return;
    }
    refs_sha256(refs_bytes_view(opaque.data, opaque.size), hash);
    refs_sha256_print(hash, hex);
    (void)snprintf(validators->etag, size, "%s\"sha256:%s\"",
                   refs_str_starts(etag, "W/") ? "W/" : "", hex);
}

static bool have_etags(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    return one->etag[0] != '\0' && other->etag[0] != '\0';
}

/* A local file always has a modification time, which may be 1970. */
static bool has_time(const refs_vfs_validators *validators) {
    return validators->modified_s != 0 || validators->inode != 0;
}

static bool has_other_fraction(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    if (one->inode != 0 && other->inode != 0) return one->modified_ns != other->modified_ns;
    return one->modified_ns != 0 && other->modified_ns != 0 &&
           one->modified_ns / 1000 != other->modified_ns / 1000;
}

static bool has_date(const refs_vfs_validators *validators) {
    return has_time(validators) || validators->fresh_s != 0;
}

/* Whether the Last-Modified date may only be the date of the answer. */
static bool may_be_date_of_answer(const refs_vfs_validators *validators) {
    return validators->modified_s == 0 && validators->fresh_s != 0 &&
           validators->fresh_s >= validators->date_s;
}

static bool has_other_time(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    if (!has_date(one) || !has_date(other) ||
        (may_be_date_of_answer(one) && may_be_date_of_answer(other)))
        return false;
    return refs_validators_date_s(one) != refs_validators_date_s(other) ||
           (has_time(one) && has_time(other) && has_other_fraction(one, other));
}

static bool has_size(const refs_vfs_validators *validators) {
    return validators->has_size || validators->size > 0;
}

const char *refs_validators_difference(const refs_vfs_validators *one,
                                       const refs_vfs_validators *other) {
    if (has_size(one) && has_size(other) && one->size != other->size) return "size";
    if (have_etags(one, other))
        return refs_str_equal(refs_etag_opaque(one->etag), refs_etag_opaque(other->etag)) ? ""
                                                                                          : "ETag";
    if (!has_other_time(one, other)) return "";
    return other->inode != 0 ? "time" : "Last-Modified";
}

bool refs_validators_contradict(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    return have_etags(one, other) && !is_weak(one->etag) && strcmp(one->etag, other->etag) == 0 &&
           strcmp(refs_validators_difference(one, other), "size") == 0;
}

bool refs_validators_prove_same(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    return *refs_validators_difference(one, other) == '\0' &&
           (have_etags(one, other) || (has_time(one) && has_time(other)));
}

/* nginx derives ETags from the modification time in seconds and the size, in hexadecimal. */
static bool is_of_second(const char *etag, int64_t second) {
    char text[24];
    snprintf(text, sizeof text, "%" PRIx64, (uint64_t)second);
    return strstr(etag, text) != NULL;
}

bool refs_validators_distinguish(const refs_vfs_validators *validators) {
    const char *etag = validators->etag;
    if (validators->fresh_s == 0) return etag[0] != '\0' || validators->modified_s != 0;
    return etag[0] != '\0' && !is_weak(etag) && !is_of_second(etag, validators->fresh_s);
}

bool refs_validators_are_settled(const refs_vfs_validators *validators) {
    return validators->etag[0] != '\0' ||
           (validators->modified_s != 0 && time(NULL) - validators->modified_s >= REFS_SETTLED_S);
}

bool refs_validators_are_of_one_file(const refs_vfs_validators *one,
                                     const refs_vfs_validators *other) {
    return one->device == other->device && one->inode == other->inode;
}

bool refs_validators_are_unchanged(const refs_vfs_validators *was, const refs_vfs_validators *now) {
    return *refs_validators_difference(was, now) == '\0' &&
           refs_validators_are_of_one_file(was, now) && was->changed_s == now->changed_s &&
           was->changed_ns == now->changed_ns;
}

bool refs_validators_is_older(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    return one->modified_s != other->modified_s ? one->modified_s < other->modified_s
                                                : one->modified_ns < other->modified_ns;
}

int64_t refs_validators_date_s(const refs_vfs_validators *validators) {
    return validators->modified_s != 0 ? validators->modified_s : validators->fresh_s;
}
