/* upload.c -- uploads files as objects, see cloud.h.
 *
 * Source: PutObject, CreateMultipartUpload, UploadPart, CompleteMultipartUpload,
 * AbortMultipartUpload of the Amazon S3 API reference. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "refs/fork.h"
#include "refs/now.h"
#include "sigv4.h"
#include "upload_transfer.h"

/* The time limit for deleting the parts of a cancelled upload. */
#define CLEANUP_MS 1000

/* S3's limit of parts. */
#define MAX_PARTS 10000

/* The state of an upload. */
typedef struct upload {
    refs_sending sending;
    int file;
    uint64_t size;
    uint64_t part_bytes;
    size_t at_a_time;
    bool in_parts;
    char *id;             /* of a multipart upload; NULL: none was begun */
    const char *if_match; /* see refs_transfer */
} upload;

/* -- parameters -------------------------------------------------------------------------------- */

static void ask_alias(const refs_s3nc_host *alias, upload *self) {
    if (alias->part_bytes > 0) self->part_bytes = alias->part_bytes;
    if (alias->max_parts > 0) self->at_a_time = (size_t)alias->max_parts;
    if (alias->is_serial) self->at_a_time = 1;
    if (!alias->is_multipart_upload) self->in_parts = false;
    self->sending.connect_s = alias->connect_timeout_s;
}

static refs_status set_up(refs_cloud *cloud, const char *location, upload *self, refs_error *err) {
    const refs_http_options defaults = REFS_HTTP_OPTIONS_INIT;
    refs_object object;
    *self = (upload){.file = -1,
                     .in_parts = true,
                     .part_bytes = REFS_UPLOAD_PART_BYTES,
                     .at_a_time = REFS_UPLOAD_PARTS};
    self->sending = (refs_sending){cloud, location, defaults.rules, 0, cloud->cancel};
    REFS_TRY(cloud->functions.rules(cloud, location, &self->sending.rules, err));
    REFS_TRY(refs_cloud__parse(cloud, location, &object, err));
    if (object.alias != NULL) ask_alias(object.alias, self);
    bool is_store = object.kind == REFS_OBJECT_S3 || object.kind == REFS_OBJECT_GOOGLE;
    if (is_store && object.bucket.size > 0 && object.key.size > 0) return REFS_OK;
    return refs_fail(err, REFS_INVALID,
                     "%s: cannot write there: expected s3://BUCKET/KEY or gs://BUCKET/KEY",
                     location);
}

static refs_status open_file(const char *path, upload *self, refs_error *err) {
    struct stat status;
    self->file = open(path, O_RDONLY | O_CLOEXEC);
    if (self->file < 0 || fstat(self->file, &status) != 0)
        return refs_fail(err, REFS_IO, "%s: cannot be read: %s", path, strerror(errno));
    self->size = (uint64_t)status.st_size;
    if (self->part_bytes < REFS_UPLOAD_MIN_PART_BYTES)
        self->part_bytes = REFS_UPLOAD_MIN_PART_BYTES;
    if (self->size / MAX_PARTS >= self->part_bytes) self->part_bytes = self->size / MAX_PARTS + 1;
    self->in_parts = self->in_parts && self->size > self->part_bytes;
    return REFS_OK;
}

/* -- in parts ---------------------------------------------------------------------------------- */

static refs_status send_one(const upload *self, refs_transfer *transfer, refs_error *err) {
    return refs_cloud__transfer(&self->sending, transfer, 1, 1, err);
}

/* Whether a store refused a conditional request because it does not support conditions. Status 400
 * alone has other causes, such as a request that took too long. */
static bool knows_no_conditions(const refs_transfer *refused) {
    const refs_str code = refs_cloud__transfer_code(refused);
    return refused->status == 501 ||
           (refused->status == 400 &&
            (refs_str_is(code, "NotImplemented") || refs_str_is(code, "InvalidArgument")));
}

/* Sends the request that creates the object, with the condition. If the store does not support
 * conditions, sends it again without one. */
static refs_status send_last(const upload *self, refs_transfer *transfer, refs_error *err) {
    refs_error problem = REFS_ERROR_INIT;
    transfer->if_match = self->if_match;
    refs_status status = send_one(self, transfer, self->if_match != NULL ? &problem : err);
    if (self->if_match == NULL || status == REFS_OK) return status;
    if (!knows_no_conditions(transfer)) return refs_fail(err, status, "%s", problem.message);
    transfer->if_match = NULL;
    transfer->n_tries = 0;
    transfer->due_ms = 0;
    return send_one(self, transfer, err);
}

static refs_status take_id(upload *self, const refs_buf *answer, refs_error *err) {
    static const char before[] = "<UploadId>";
    refs_str text = refs_buf_text(answer);
    for (size_t i = 0; i + sizeof before <= text.size; i++) {
        if (memcmp(text.data + i, before, sizeof before - 1) != 0) continue;
        refs_str id = refs_str_part(text, i + sizeof before - 1, text.size);
        return refs_str_keep(refs_str_part(id, 0, refs_str_find(id, '<')), &self->id, err);
    }
    return refs_fail(err, REFS_CORRUPT, "%s: the store returned no upload ID",
                     self->sending.location);
}

static refs_status begin_parts(upload *self, refs_error *err) {
    REFS_SCOPED_BY(refs_cloud__transfer_clear)
    refs_transfer asked = {.method = "POST", .query = "uploads=", .file = -1};
    REFS_TRY(send_one(self, &asked, err));
    return take_id(self, &asked.answer, err);
}

static refs_status append_id(const upload *self, const char *before, refs_buf *query,
                             refs_error *err) {
    REFS_TRY(refs_buf_printf(query, err, "%suploadId=", before));
    REFS_TRY(refs_sigv4__escape(refs_str_from(self->id), "", query, err));
    return refs_buf_append(query, "", 1, err);
}

static refs_status make_parts(const upload *self, refs_transfer *parts, refs_buf *queries, size_t n,
                              refs_error *err) {
    for (size_t i = 0; i < n; i++) {
        char before[48];
        uint64_t offset = i * self->part_bytes, left = self->size - offset;
        snprintf(before, sizeof before, "partNumber=%zu&", i + 1);
        REFS_TRY(append_id(self, before, &queries[i], err));
        parts[i] = (refs_transfer){.method = "PUT",
                                   .query = (const char *)queries[i].data,
                                   .file = self->file,
                                   .offset = offset,
                                   .length = left < self->part_bytes ? left : self->part_bytes};
    }
    return REFS_OK;
}

static refs_status list_parts(const upload *self, const refs_transfer *parts, size_t n,
                              refs_buf *xml, refs_error *err) {
    REFS_TRY(refs_buf_printf(xml, err, "<CompleteMultipartUpload>"));
    for (size_t i = 0; i < n; i++) {
        if (*parts[i].etag == '\0')
            return refs_fail(err, REFS_CORRUPT, "%s: the store returned no ETag for a part",
                             self->sending.location);
        REFS_TRY(refs_buf_printf(xml, err,
                                 "<Part><PartNumber>%zu</PartNumber><ETag>%s</ETag></Part>", i + 1,
                                 parts[i].etag));
    }
    return refs_buf_printf(xml, err, "</CompleteMultipartUpload>");
}

static refs_status end_parts(const upload *self, const refs_transfer *parts, size_t n,
                             refs_error *err) {
    REFS_SCOPED_BUF xml = REFS_BUF_INIT, query = REFS_BUF_INIT;
    refs_status status = list_parts(self, parts, n, &xml, err);
    if (status == REFS_OK) status = append_id(self, "", &query, err);
    REFS_SCOPED_BY(refs_cloud__transfer_clear)
    refs_transfer asked = {.method = "POST", .query = (const char *)query.data, .file = -1};
    asked.body = refs_buf_text(&xml);
    asked.length = xml.size;
    if (status == REFS_OK) status = send_last(self, &asked, err);
    return status;
}

static bool is_in_time(void *user) {
    return refs_now_ms() < *(const uint64_t *)user;
}

/* Deletes the parts of a failed or cancelled upload, which would cost money. After a cancellation,
 * this waits only for a moment. */
static void forget_parts(upload *self) {
    REFS_SCOPED_BUF query = REFS_BUF_INIT;
    uint64_t until_ms = refs_now_ms() + CLEANUP_MS;
    if (refs_check_cancelled(&self->sending.cancel, NULL) != REFS_OK)
        self->sending.cancel = (refs_cancel_check){is_in_time, &until_ms};
    if (append_id(self, "", &query, NULL) == REFS_OK) {
        REFS_SCOPED_BY(refs_cloud__transfer_clear)
        refs_transfer asked = {.method = "DELETE",
                               .query = (const char *)query.data,
                               .file = -1,
                               .may_be_absent = true};
        (void)send_one(self, &asked, NULL);
    }
    self->sending.cancel = self->sending.cloud->cancel;
}

static refs_status send_parts(upload *self, refs_error *err) {
    size_t n = (size_t)((self->size - 1) / self->part_bytes + 1);
    REFS_SCOPED refs_transfer *parts = refs_calloc(n, sizeof *parts);
    REFS_SCOPED refs_buf *queries = refs_calloc(n, sizeof *queries);
    refs_status status = parts != NULL && queries != NULL ? REFS_OK : refs_fail_nomem(err);
    if (status == REFS_OK) status = begin_parts(self, err);
    if (status == REFS_OK) status = make_parts(self, parts, queries, n, err);
    if (status == REFS_OK)
        status = refs_cloud__transfer(&self->sending, parts, n, self->at_a_time, err);
    if (status == REFS_OK) status = end_parts(self, parts, n, err);
    if (status != REFS_OK && self->id != NULL) forget_parts(self);
    for (size_t i = 0; parts != NULL && queries != NULL && i < n; i++) {
        refs_cloud__transfer_clear(&parts[i]);
        refs_buf_clear(&queries[i]);
    }
    return status;
}

/* -- all --------------------------------------------------------------------------------------- */

static refs_status send_whole(const upload *self, refs_error *err) {
    REFS_SCOPED_BY(refs_cloud__transfer_clear)
    refs_transfer whole = {.method = "PUT", .query = "", .file = self->file, .length = self->size};
    return send_last(self, &whole, err);
}

static refs_status send_file(upload *self, const char *path, refs_error *err) {
    refs_status status = open_file(path, self, err);
    if (status == REFS_OK) status = self->in_parts ? send_parts(self, err) : send_whole(self, err);
    if (self->file >= 0) close(self->file);
    refs_free(self->id);
    return status;
}

refs_status refs_cloud_upload(refs_cloud *cloud, const char *path, const char *location,
                              refs_error *err) {
    upload self;
    REFS_TRY(set_up(cloud, location, &self, err));
    return send_file(&self, path, err);
}

/* -- in place of what is known ----------------------------------------------------------------- */

static refs_status ask_validator(const upload *self, refs_validator *validator, refs_error *err) {
    REFS_SCOPED_BY(refs_cloud__transfer_clear)
    refs_transfer asked = {.method = "HEAD", .query = "", .file = -1, .may_be_absent = true};
    refs_status status = send_one(self, &asked, err);
    const char *text = asked.status == 404 ? "" : *asked.etag != '\0' ? asked.etag : "*";
    snprintf(validator->text, sizeof validator->text, "%s", text);
    return status;
}

refs_status refs_cloud_validator(refs_cloud *cloud, const char *location, refs_validator *validator,
                                 refs_error *err) {
    upload self;
    REFS_TRY(set_up(cloud, location, &self, err));
    return ask_validator(&self, validator, err);
}

refs_status refs_cloud_check_validator(const refs_validator *validator, const char *location,
                                       refs_error *err) {
    const bool is_weak = strncmp(validator->text, "W/", 2) == 0;
    if (!is_weak && strcmp(validator->text, "*") != 0) return REFS_OK;
    return refs_fail(err, REFS_UNSUPPORTED,
                     "%s: cannot replace it safely: expected a strong ETag from the store, found "
                     "%s: write it elsewhere",
                     location, is_weak ? validator->text : "none");
}

refs_status refs_cloud_replace(refs_cloud *cloud, const refs_replacement *replacement,
                               refs_error *err) {
    upload self;
    refs_validator now;
    REFS_TRY(set_up(cloud, replacement->location, &self, err));
    REFS_TRY(refs_cloud_check_validator(&replacement->of, replacement->location, err));
    REFS_TRY(ask_validator(&self, &now, err));
    if (strcmp(now.text, replacement->of.text) != 0)
        return refs_cloud__fail_changed(&self.sending, err);
    self.if_match = replacement->of.text;
    return send_file(&self, replacement->path, err);
}

refs_status refs_cloud_remove(refs_cloud *cloud, const char *location, refs_error *err) {
    upload self;
    REFS_TRY(set_up(cloud, location, &self, err));
    REFS_SCOPED_BY(refs_cloud__transfer_clear)
    refs_transfer asked = {.method = "DELETE", .query = "", .file = -1, .may_be_absent = true};
    return send_one(&self, &asked, err);
}
