/* body.c -- checks an answer, and stores its bytes. */
#include "http/internal.h"

#include <string.h>

/* The waiter is woken each time this many bytes have arrived: often enough to keep decoders
 * busy. */
#define TELL_BYTES (256 * (uint64_t)REFS_KIB)

long refs_transfer__status(const refs_transfer *transfer) {
    long status = 0;
    curl_easy_getinfo(transfer->current, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

bool refs_transfer__is_complete(const refs_transfer *transfer) {
    if (!transfer->checked || transfer->refused) return false;
    return transfer->kind == REFS_TRANSFER_STAMP ||
           (transfer->kind == REFS_TRANSFER_RANGE &&
            atomic_load(&transfer->got) == transfer->length);
}

/* -- whole objects ----------------------------------------------------------------------------- */

bool refs_transfer__can_be_paused(const refs_transfer *transfer) {
    long version = 0;
    curl_easy_getinfo(transfer->current, CURLINFO_HTTP_VERSION, &version);
    return version == CURL_HTTP_VERSION_1_0 || version == CURL_HTTP_VERSION_1_1;
}

bool refs_transfer__lacks_memory(refs_transfer *transfer) {
    REFS_LOCKED(&transfer->waiter->lock);
    return transfer->needs > 0;
}

static bool try_reserve(refs_transfer *transfer, uint64_t size) {
    if (!refs_waiter__reserve(transfer->waiter, transfer->reserved, size)) return false;
    if (transfer->waiter->max_memory > 0) transfer->reserved = size;
    return true;
}

/* Postpones the request until so much memory is free. */
static refs_status postpone(refs_transfer *transfer, uint64_t size, refs_error *err) {
    transfer->postponed = size;
    return refs_fail(
        err, REFS_LIMIT,
        "the memory budget of all reads is used up: the request is repeated when memory is free");
}

/* Pauses before the body and gives its reservation back: the caller reserves what it needs. */
static void hold_back(refs_transfer *transfer, uint64_t size) {
    const uint64_t reserved = transfer->reserved;
    transfer->reserved = 0;
    transfer->is_held_back = true;
    refs_lock(&transfer->waiter->lock);
    transfer->needs = size;
    refs_unlock(&transfer->waiter->lock);
    refs_waiter__give_back(transfer->waiter, (size_t)reserved); /* which wakes the waiters */
}

static refs_status check_size(const refs_transfer *transfer, uint64_t size, refs_error *err) {
    if (size > transfer->max_size)
        return refs_fail(err, REFS_LIMIT, "%llu bytes are more than the limit of %llu",
                         (unsigned long long)size, (unsigned long long)transfer->max_size);
    return size <= SIZE_MAX ? REFS_OK : refs_fail_nomem(err);
}

static refs_status enlarge(refs_transfer *transfer, uint64_t size, refs_error *err) {
    refs_block *larger = refs_block_new((size_t)size, NULL, NULL);
    if (larger == NULL) return refs_fail_nomem(err);
    uint64_t got = atomic_load(&transfer->got);
    if (got > 0) memcpy(refs_block_data(larger), refs_block_data(transfer->block), (size_t)got);
    refs_block_release(transfer->block);
    transfer->block = larger;
    return REFS_OK;
}

/* Grows the buffer for `more` bytes: it starts small and doubles, up to the announced size, which
 * is reserved. For an object of unknown size, more is reserved as it grows. */
static refs_status grow(refs_transfer *transfer, uint64_t more, refs_error *err) {
    const refs_vfs_validators *validators = &transfer->validators;
    const uint64_t needed = atomic_load(&transfer->got) + more;
    uint64_t first = 64 * REFS_KIB, size = 2 * needed;
    if (transfer->block != NULL && needed <= refs_block_size(transfer->block)) return REFS_OK;
    if (validators->has_size) first = REFS_FIRST_WHOLE_BYTES;
    if (size < first) size = first;
    if (validators->has_size && validators->size >= needed && validators->size < size)
        size = validators->size;
    if (size > transfer->max_size) size = needed > transfer->max_size ? needed : transfer->max_size;
    REFS_TRY(check_size(transfer, size, err));
    if (size > transfer->reserved && !try_reserve(transfer, size))
        return postpone(transfer, size, err);
    return enlarge(transfer, size, err);
}

static bool content_length(const refs_transfer *transfer, uint64_t *length) {
    curl_off_t size = -1;
    curl_easy_getinfo(transfer->current, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &size);
    *length = size >= 0 ? (uint64_t)size : 0;
    return size >= 0;
}

static refs_status begin_whole(refs_transfer *transfer, refs_error *err) {
    refs_vfs_validators *validators = &transfer->response.validators;
    if (!validators->has_size) validators->has_size = content_length(transfer, &validators->size);
    transfer->validators = *validators;
    transfer->is_rest_refused = transfer->is_rest_refused || transfer->got_before > 0;
    transfer->got_before = 0;
    atomic_store(&transfer->got, 0);
    if (validators->has_size) REFS_TRY(check_size(transfer, validators->size, err));
    refs_block_release(transfer->block); /* from an earlier attempt */
    transfer->block = NULL;
    if (validators->has_size && !try_reserve(transfer, validators->size)) {
        if (!refs_transfer__can_be_paused(transfer))
            return postpone(transfer, validators->size, err);
        hold_back(transfer, validators->size);
        return REFS_OK;
    }
    return grow(transfer, 0, err);
}

/* Whether parts with these validators are parts of one state (RFC 9110, section 15.3.7.3). */
static bool have_strong_match(const refs_vfs_validators *one, const refs_vfs_validators *other) {
    if (one->etag[0] != '\0')
        return strncmp(one->etag, "W/", 2) != 0 && strcmp(one->etag, other->etag) == 0;
    return one->modified_s != 0 && one->modified_s == other->modified_s;
}

bool refs_transfer__can_resume(const refs_transfer *transfer) {
    return transfer->kind == REFS_TRANSFER_WHOLE && !transfer->is_rest_refused &&
           !transfer->response.encoded && atomic_load(&transfer->got) > 0 &&
           have_strong_match(&transfer->validators, &transfer->validators);
}

/* The rest of an object must be complete, and of the same state as its beginning. */
static refs_status check_rest(const refs_transfer *transfer, refs_error *err) {
    const refs_response *response = &transfer->response;
    const refs_vfs_validators *now = &response->validators;
    if (response->has_range && response->range_begin == transfer->got_before && now->has_size &&
        response->range_end == now->size && !response->encoded &&
        have_strong_match(&transfer->validators, now))
        return refs_fetch__compare(&transfer->validators, now, err);
    return refs_fail(err, REFS_IO,
                     "the server sent another object or range than the rest (HTTP 206)");
}

/* An answer with Content-Range to a request without a range must contain the whole object. */
static refs_status check_whole_part(const refs_transfer *transfer, refs_error *err) {
    const refs_response *response = &transfer->response;
    if (response->has_range && response->range_begin == 0 && response->validators.has_size &&
        response->range_end == response->validators.size)
        return REFS_OK;
    return refs_fail(err, REFS_IO, "expected the whole object (HTTP 200), found a part (HTTP 206)");
}

/* -- ranges ------------------------------------------------------------------------------------ */

/* Bytes of earlier attempts must be of the same state of the object. */
static refs_status identify(refs_transfer *transfer, refs_error *err) {
    const refs_vfs_validators *now = &transfer->response.validators;
    if (transfer->identified) REFS_TRY(refs_fetch__compare(&transfer->validators, now, err));
    if (!transfer->identified) transfer->validators = *now;
    transfer->identified = true;
    return REFS_OK;
}

/* A server may send less than the range (RFC 9110, section 15.3.7): the rest is then requested. */
static refs_status check_range(refs_transfer *transfer, refs_error *err) {
    const refs_response *response = &transfer->response;
    uint64_t begin = transfer->offset + atomic_load(&transfer->got);
    uint64_t end = transfer->offset + transfer->length;
    if (response->multipart)
        return refs_fail(err, REFS_IO, "expected one range, found several parts (HTTP 206)");
    if (!response->has_range)
        return refs_fail(err, REFS_IO, "HTTP 206 without a Content-Range header");
    if (response->range_begin != begin || response->range_end > end)
        return refs_fail(err, REFS_IO,
                         "the server sent the range [%llu+%llu]: expected [%llu+%llu] (HTTP 206)",
                         (unsigned long long)response->range_begin,
                         (unsigned long long)(response->range_end - response->range_begin),
                         (unsigned long long)begin, (unsigned long long)(end - begin));
    if (response->range_end < end && response->validators.has_size &&
        response->validators.size == response->range_end) {
        if (!transfer->is_beginning)
            return refs_fetch__fail_short(response->range_end, transfer->offset, transfer->length,
                                          err);
        transfer->length = response->range_end - transfer->offset;
    }
    return identify(transfer, err);
}

/* Accepts a whole object instead of its beginning. */
static refs_status take_whole(refs_transfer *transfer, refs_error *err) {
    transfer->kind = REFS_TRANSFER_WHOLE;
    return begin_whole(transfer, err);
}

/* Handles a whole object instead of a range. A small one is requested again as a whole, so that it
 * serves all its ranges; in a large one, the bytes before the range are skipped, up to a limit. */
static refs_status begin_rangeless(refs_transfer *transfer, refs_error *err) {
    refs_vfs_validators *validators = &transfer->response.validators;
    validators->has_size = content_length(transfer, &validators->size);
    if (validators->has_size && validators->size < transfer->offset + transfer->length)
        return refs_fetch__fail_short(validators->size, transfer->offset, transfer->length, err);
    transfer->ranges_ignored =
        validators->has_size && validators->size <= REFS_HTTP_MAX_RANGELESS_BYTES;
    if (transfer->ranges_ignored)
        return refs_fail(err, REFS_IO,
                         "expected a range (HTTP 206), found the whole object (HTTP 200)");
    transfer->skip = transfer->offset + atomic_load(&transfer->got);
    if (transfer->skip > REFS_HTTP_MAX_SKIPPED_BYTES)
        return refs_fail(err, REFS_LIMIT,
                         "the server ignores ranges, and the %llu bytes before this one are too "
                         "many to skip (HTTP 200)",
                         (unsigned long long)transfer->skip);
    return identify(transfer, err);
}

refs_status refs_transfer__check_response(refs_transfer *transfer, refs_error *err) {
    long status = refs_transfer__status(transfer);
    bool are_validators = transfer->kind == REFS_TRANSFER_STAMP;
    if (are_validators && (status == 200 || status == 206)) {
        transfer->validators = transfer->response.validators;
        return REFS_OK;
    }
    if (transfer->response.encoded && !transfer->compressible)
        return refs_fail(err, REFS_IO,
                         "the server sent a content encoding that was not requested (HTTP %ld)",
                         status);
    if (transfer->kind == REFS_TRANSFER_WHOLE) {
        if (status == 206 && transfer->got_before > 0) return check_rest(transfer, err);
        if (status == 206) REFS_TRY(check_whole_part(transfer, err));
        if (status == 200 || status == 206) return begin_whole(transfer, err);
    }
    if (transfer->kind == REFS_TRANSFER_RANGE) {
        if (status == 206) return check_range(transfer, err);
        if (status == 200 && transfer->is_beginning) return take_whole(transfer, err);
        if (status == 200) return begin_rangeless(transfer, err);
    }
    return refs_fail(err, REFS_IO, "HTTP %ld for a %s", status,
                     transfer->kind == REFS_TRANSFER_WHOLE ? "whole object" : "range");
}

/* -- bytes ------------------------------------------------------------------------------------- */

static void tell(refs_transfer *transfer, uint64_t got) {
    if (got - transfer->reported < TELL_BYTES) return;
    transfer->reported = got;
    REFS_LOCKED(&transfer->waiter->lock);
    pthread_cond_broadcast(&transfer->waiter->moved);
}

/* Stores only the range of a whole object. */
static refs_bytes cut_to_range(refs_transfer *transfer, refs_bytes bytes) {
    uint64_t left = transfer->skip - transfer->skipped;
    size_t over = bytes.size < left ? bytes.size : (size_t)left;
    transfer->skipped += over;
    uint64_t wanted = transfer->length - atomic_load(&transfer->got);
    size_t rest = bytes.size - over;
    return refs_bytes_view(bytes.data + over, rest < wanted ? rest : (size_t)wanted);
}

static refs_status keep(refs_transfer *transfer, refs_bytes bytes, refs_error *err) {
    bool whole = transfer->kind == REFS_TRANSFER_WHOLE;
    if (whole) REFS_TRY(grow(transfer, bytes.size, err));
    uint64_t got = atomic_load(&transfer->got);
    uint64_t room = (whole ? refs_block_size(transfer->block) : transfer->length) - got;
    if (bytes.size > room)
        return refs_fail(err, REFS_IO, "the server sent more bytes than the range has (HTTP 206)");
    if (bytes.size > 0)
        memcpy(refs_block_data(transfer->block) + transfer->block_begin + got, bytes.data,
               bytes.size);
    atomic_store(&transfer->got, got + bytes.size);
    refs_waiter__note_moved(transfer->waiter);
    if (!whole) tell(transfer, got + bytes.size);
    return REFS_OK;
}

/* Content-Type is not enough: some servers send text/html for all files. */
static bool is_page_for_data(const refs_transfer *transfer, refs_bytes bytes) {
    size_t at = 0;
    if (transfer->queue == NULL || !transfer->response.is_page ||
        refs_transfer__status(transfer) != 200)
        return false;
    while (at < bytes.size && (bytes.data[at] == ' ' || bytes.data[at] == '\n' ||
                               bytes.data[at] == '\r' || bytes.data[at] == '\t'))
        at++;
    return at < bytes.size && bytes.data[at] == '<';
}

static refs_status take_body(refs_transfer *transfer, refs_bytes bytes, refs_error *err) {
    if (!transfer->checked) {
        transfer->checked = true;
        if (is_page_for_data(transfer, bytes))
            return refs_fail(err, REFS_IO,
                             "the server returned a web page (text/html) instead of the file: it "
                             "may require a login (HTTP 200)");
        REFS_TRY(refs_transfer__check_response(transfer, err));
    }
    if (transfer->kind == REFS_TRANSFER_STAMP || transfer->is_held_back) return REFS_OK;
    bool rangeless =
        transfer->kind == REFS_TRANSFER_RANGE && refs_transfer__status(transfer) == 200;
    return keep(transfer, rangeless ? cut_to_range(transfer, bytes) : bytes, err);
}

/* Stores the beginning of a refusal's body, in which object stores put an error code. If memory
 * runs out, no code is known. */
static void keep_refusal(refs_transfer *transfer, refs_bytes bytes) {
    uint64_t before = transfer->refusal_bytes;
    if (before >= REFS_REFUSAL_TEXT_BYTES) return;
    if (transfer->refusal_text == NULL)
        transfer->refusal_text = refs_alloc(REFS_REFUSAL_TEXT_BYTES);
    if (transfer->refusal_text == NULL) return;
    uint64_t left = REFS_REFUSAL_TEXT_BYTES - before;
    memcpy(transfer->refusal_text + before, bytes.data,
           bytes.size < left ? bytes.size : (size_t)left);
}

/* Skips the rest of the body of a refusal, to keep the connection. Bytes after the requested ones
 * close it instead. */
size_t refs_transfer__on_body(char *data, size_t item_size, size_t n, void *user) {
    refs_transfer *transfer = user;
    size_t size = item_size * n;
    long status = refs_transfer__status(transfer);
    if (transfer->is_held_back && refs_transfer__lacks_memory(transfer))
        return CURL_WRITEFUNC_PAUSE;
    transfer->is_held_back = false;
    refs_bytes bytes = refs_bytes_view((const uint8_t *)data, size);
    if (status >= 300) {
        keep_refusal(transfer, bytes);
        transfer->n_bytes += size;
        transfer->refusal_bytes += size;
        return transfer->refusal_bytes <= REFS_HTTP_MAX_REFUSAL_BYTES ? size : 0;
    }
    transfer->refused = take_body(transfer, bytes, &transfer->error) != REFS_OK;
    if (transfer->is_held_back)
        return CURL_WRITEFUNC_PAUSE; /* libcurl delivers the same bytes again */
    transfer->n_bytes += size;
    if (transfer->refused) return 0;
    return status == 200 && refs_transfer__is_complete(transfer) ? 0 : size;
}
