/* stac.c -- what a document of STAC names, see refs/join.h.
 *
 * https://github.com/radiantearth/stac-spec: items are features whose assets have roles;
 * collections and catalogs link to items and to each other; lists of items are feature collections,
 * whose next page is a link.
 */
#include "refs/file_name.h"
#include "refs/join.h"
#include "refs/json.h"
#include "refs/refset.h"
#include "refs/url.h"

/* The media types of data files if no asset says that it is data. */
static const char *const data_types[] = {"application/x-netcdf",
                                         "application/netcdf",
                                         "application/x-hdf",
                                         "application/wmo-GRIB",
                                         "application/x-grib",
                                         "image/tiff",
                                         "application/vnd+zarr+kerchunk",
                                         NULL};

bool refs_stac_is(refs_str head) {
    static const char mark[] = "\"stac_version\"";
    for (size_t i = 0; i + sizeof mark - 1 <= head.size; i++)
        if (memcmp(head.data + i, mark, sizeof mark - 1) == 0) return true;
    return false;
}

/* -- links ------------------------------------------------------------------------------------- */

/* RFC 3986, section 5.2. A "/" alone is a path of this machine, or of the host of the base. */
static refs_status append_href(refs_str base, refs_str href, refs_buf *names, refs_error *err) {
    (void)refs_url_take_file(&base);
    const size_t path = refs_url_path_begin(base);
    const bool is_url = refs_file_name_has_url(base);
    if (is_url) base.size = path + refs_str_part(base, path, refs_str_find(base, '?')).size;
    const size_t slash = refs_str_find_last(base, '/');
    const bool is_relative = refs_file_name_is_relative(href);
    const bool is_rooted =
        is_url && (refs_str_starts(href, "/") || (is_relative && path == base.size));
    if (is_rooted) REFS_TRY(refs_buf_append_str(names, refs_str_part(base, 0, path), err));
    if (is_rooted && is_relative) REFS_TRY(refs_buf_append(names, "/", 1, err));
    if (is_rooted || !is_relative)
        REFS_TRY(refs_buf_append_str(names, href, err));
    else
        REFS_TRY(refs_url_append_relative(refs_str_part(base, 0, slash == SIZE_MAX ? 0 : slash + 1),
                                          href, names, err));
    return refs_buf_append(names, "", 1, err);
}

static bool is_link_on(refs_str rel) {
    return refs_str_is(rel, "item") || refs_str_is(rel, "child") || refs_str_is(rel, "next") ||
           refs_str_is(rel, "items");
}

static refs_status add_links(const refs_json *links, const refs_stac *found, refs_error *err) {
    for (size_t i = 0; i < refs_json_size(links); i++) {
        const refs_json *link = refs_json_at(links, i);
        const refs_str href = refs_json_text(refs_json_get(link, "href"));
        const refs_str method = refs_json_text(refs_json_get(link, "method"));
        if (href.size == 0 || (method.size > 0 && !refs_str_is(method, "GET")) ||
            !is_link_on(refs_json_text(refs_json_get(link, "rel"))))
            continue;
        REFS_TRY(append_href(found->base, href, found->links, err));
    }
    return REFS_OK;
}

/* -- assets ------------------------------------------------------------------------------------ */

static bool has_role(const refs_json *asset, const char *role) {
    const refs_json *roles = refs_json_get(asset, "roles");
    for (size_t i = 0; i < refs_json_size(roles); i++)
        if (refs_str_is(refs_json_text(refs_json_at(roles, i)), role)) return true;
    return false;
}

static bool has_data_type(const refs_json *asset) {
    const refs_str type = refs_json_text(refs_json_get(asset, "type"));
    for (const char *const *at = data_types; *at != NULL; at++)
        if (refs_str_starts(type, *at)) return true;
    return false;
}

static refs_status add_assets(const refs_json *assets, const refs_stac *found, refs_error *err) {
    bool any_role = false;
    if (!refs_json_is_object(assets)) return REFS_OK;
    for (size_t i = 0; i < refs_json_size(assets); i++)
        any_role = any_role || has_role(refs_json_at(assets, i), "data");
    for (size_t i = 0; i < refs_json_size(assets); i++) {
        const refs_json *asset = refs_json_at(assets, i);
        const refs_str href = refs_json_text(refs_json_get(asset, "href"));
        const bool is_data = any_role ? has_role(asset, "data") : has_data_type(asset);
        if (is_data && href.size > 0) REFS_TRY(append_href(found->base, href, found->assets, err));
    }
    return REFS_OK;
}

static refs_status read_document(const refs_json *document, const refs_stac *found,
                                 refs_error *err) {
    const refs_json *features = refs_json_get(document, "features");
    const size_t before = found->assets->size;
    for (size_t i = 0; refs_json_is_array(features) && i < refs_json_size(features); i++)
        REFS_TRY(add_assets(refs_json_get(refs_json_at(features, i), "assets"), found, err));
    REFS_TRY(add_assets(refs_json_get(document, "assets"), found, err));
    /* A collection that has its data as assets links to its items, too; an item links to others. */
    const bool is_item = refs_str_is(refs_json_text(refs_json_get(document, "type")), "Feature");
    const bool is_list = refs_json_is_array(features);
    if (is_item || (!is_list && found->assets->size > before)) return REFS_OK;
    return add_links(refs_json_get(document, "links"), found, err);
}

refs_status refs_stac_read(refs_str text, const refs_stac *found, refs_error *err) {
    refs_json_doc *doc = NULL;
    REFS_TRY(refs_json_parse(text, &doc, err));
    const refs_json *root = refs_json_root(doc);
    refs_status status = refs_json_is_object(root) ? read_document(root, found, err)
                                                   : refs_fail(err, REFS_CORRUPT, "no JSON object");
    refs_json_doc_free(doc);
    return status;
}
