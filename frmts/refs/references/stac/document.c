/* document.c -- reads the names in a STAC document, see stac.h.
 *
 * https://github.com/radiantearth/stac-spec: items are features whose assets have roles;
 * collections and catalogs link to items and to each other; lists of items are feature collections,
 * with a link to the next page. https://github.com/radiantearth/stac-best-practices, Zarr: a link
 * "store" points to the set made from an item or a collection.
 */
#include "stac/stac.h"

#include <strings.h>

#include "refs/file_name.h"
#include "refs/json.h"
#include "refs/url.h"

/* Limits: assets of one document, and its links to other documents. */
#define MAX_ASSETS 65536
#define MAX_LINKS  65536

/* Media types of data files, used if no asset has the role "data". */
static const char *const data_types[] = {"application/x-netcdf",
                                         "application/netcdf",
                                         "application/x-hdf",
                                         "application/wmo-GRIB",
                                         "application/x-grib",
                                         "image/tiff",
                                         NULL};

/* -- links ------------------------------------------------------------------------------------- */

/* Whether the name is one of GDAL's file systems; the path of a server may begin with "/vsi",
 * too. */
static bool is_name_of_gdal(refs_str href) {
    const bool is_path = refs_str_starts(href, "/vsi");
    return is_path && (refs_location_is_remote(href) || refs_location_file(href).data != href.data);
}

/* RFC 3986, section 5.2. A path that begins with "/" is local if the base is; else it is on the
 * base's host. */
static refs_status append_href(refs_str base, refs_str href, refs_buf *names, refs_error *err) {
    (void)refs_url_take_file(&base);
    const size_t path = refs_url_path_begin(base);
    const bool is_url = refs_file_name_has_url(base);
    if (is_url) base.size = path + refs_str_part(base, path, refs_str_find(base, '?')).size;
    const size_t slash = refs_str_find_last(base, '/');
    const bool is_relative = refs_file_name_is_relative(href);
    const bool is_rooted = is_url && !is_name_of_gdal(href) &&
                           (refs_str_starts(href, "/") || (is_relative && path == base.size));
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
    size_t n = 0;
    for (size_t i = 0; i < refs_json_size(links); i++) {
        const refs_json *link = refs_json_at(links, i);
        const refs_str href = refs_json_text(refs_json_get(link, "href"));
        const refs_str method = refs_json_text(refs_json_get(link, "method"));
        if (href.size == 0 || refs_str_find(href, '\0') != SIZE_MAX ||
            (method.size > 0 && !refs_str_is(method, "GET")) ||
            !is_link_on(refs_json_text(refs_json_get(link, "rel"))))
            continue;
        if (n++ == MAX_LINKS)
            return refs_fail(err, REFS_LIMIT, "the document has more links than the limit of %d",
                             MAX_LINKS);
        REFS_TRY(append_href(found->base, href, found->links, err));
    }
    return REFS_OK;
}

/* -- assets ------------------------------------------------------------------------------------ */

/* An item or a collection, on its own or in a list of items. */
typedef struct owner {
    const refs_json *document;
    const refs_stac *found;
    refs_str id;  /* empty unless it is in a list */
    size_t first; /* where its names begin in found->assets */
    size_t *n;    /* number of assets in the document */
} owner;

static bool has_role(const refs_json *asset, const char *role) {
    const refs_json *roles = refs_json_get(asset, "roles");
    for (size_t i = 0; i < refs_json_size(roles); i++)
        if (refs_str_is(refs_json_text(refs_json_at(roles, i)), role)) return true;
    return false;
}

static refs_str type_of(const refs_json *asset) {
    return refs_json_text(refs_json_get(asset, "type"));
}

static bool has_data_type(const refs_json *asset) {
    for (const char *const *at = data_types; *at != NULL; at++)
        if (refs_str_starts(type_of(asset), *at)) return true;
    return false;
}

static bool type_has(const refs_json *asset, const char *word) {
    const refs_str type = type_of(asset);
    for (size_t i = 0; i + strlen(word) <= type.size; i++)
        if (strncasecmp(type.data + i, word, strlen(word)) == 0) return true;
    return false;
}

/* Publishers spell the media type in several ways: "application/vnd.zarr+kerchunk",
 * "application/vnd+zarr+icechunk", "application/vnd.icechunk". */
static bool has_set_type(const refs_json *asset) {
    return type_has(asset, "kerchunk") || type_has(asset, "icechunk") ||
           refs_str_starts(type_of(asset), "application/json+zst");
}

/* ESGF calls the asset "reference_file"; its role "reference" is also that of original files. */
static bool is_set(refs_str key, const refs_json *asset) {
    const bool has_set_role = has_role(asset, "virtual") || has_role(asset, "references") ||
                              has_role(asset, "reference") || refs_str_is(key, "reference_file");
    return has_set_type(asset) || (has_set_role && !has_data_type(asset));
}

static bool is_latest_set(refs_str key, const refs_json *asset) {
    return has_role(asset, "latest-version") && is_set(key, asset);
}

static bool has_data_role(refs_str key, const refs_json *asset) {
    (void)key;
    return has_role(asset, "data");
}

static bool is_data_by_type(refs_str key, const refs_json *asset) {
    (void)key;
    return has_data_type(asset);
}

static refs_status add_title(const owner *self, refs_str key, refs_error *err) {
    refs_buf *titles = self->found->titles;
    if (titles == NULL) return REFS_OK;
    if (self->id.size > 0) {
        REFS_TRY(refs_buf_append_str(titles, self->id, err));
        REFS_TRY(refs_buf_append(titles, "/", 1, err));
    }
    return refs_buf_append_text(titles, key, err);
}

/* Ignores names with a NUL, and an asset that the link "store" has already named. */
static refs_status add_asset(const owner *self, refs_str key, const refs_json *asset,
                             refs_error *err) {
    const refs_str href = refs_json_text(refs_json_get(asset, "href"));
    refs_buf *names = self->found->assets;
    const size_t begin = names->size;
    if (href.size == 0 || refs_str_find(href, '\0') != SIZE_MAX ||
        refs_str_find(key, '\0') != SIZE_MAX || refs_str_find(self->id, '\0') != SIZE_MAX)
        return REFS_OK;
    REFS_TRY(append_href(self->found->base, href, names, err));
    if (begin > self->first &&
        strcmp((const char *)names->data + self->first, (const char *)names->data + begin) == 0) {
        names->size = begin;
        return REFS_OK;
    }
    if (++*self->n > MAX_ASSETS)
        return refs_fail(err, REFS_LIMIT, "the document has more assets than the limit of %d",
                         MAX_ASSETS);
    return add_title(self, key, err);
}

/* Plain Zarr stores are skipped: this driver does not read them. */
static refs_status add_stores(const owner *self, refs_error *err) {
    const refs_json *links = refs_json_get(self->document, "links");
    for (size_t i = 0; i < refs_json_size(links); i++) {
        const refs_json *link = refs_json_at(links, i);
        if (refs_str_is(refs_json_text(refs_json_get(link, "rel")), "store") &&
            (has_set_type(link) || !type_has(link, "zarr")))
            REFS_TRY(add_asset(self, refs_str_from("store"), link, err));
    }
    return REFS_OK;
}

static refs_status add_those(const owner *self,
                             bool (*is_one)(refs_str key, const refs_json *asset),
                             refs_error *err) {
    const refs_json *assets = refs_json_get(self->document, "assets");
    if (!refs_json_is_object(assets)) return REFS_OK;
    for (size_t i = 0; i < refs_json_size(assets); i++)
        if (is_one(refs_json_name_at(assets, i), refs_json_at(assets, i)))
            REFS_TRY(add_asset(self, refs_json_name_at(assets, i), refs_json_at(assets, i), err));
    return REFS_OK;
}

/* Prefers sets to the files that they refer to; a kind is used only if no better one exists. */
static refs_status add_assets(const owner *self, refs_error *err) {
    static bool (*const kinds[])(refs_str key, const refs_json *asset) = {
        is_latest_set, is_set, has_data_role, is_data_by_type};
    const refs_buf *names = self->found->assets;
    REFS_TRY(add_stores(self, err));
    const size_t n_stores = names->size;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (names->size > n_stores || (n_stores > self->first && i > 1)) break;
        REFS_TRY(add_those(self, kinds[i], err));
    }
    return REFS_OK;
}

static refs_status read_document(const refs_json *document, const refs_stac *found,
                                 refs_error *err) {
    const refs_json *features = refs_json_get(document, "features");
    const size_t before = found->assets->size;
    size_t n = 0;
    for (size_t i = 0; refs_json_is_array(features) && i < refs_json_size(features); i++) {
        const refs_json *item = refs_json_at(features, i);
        const owner self = {item, found, refs_json_text(refs_json_get(item, "id")),
                            found->assets->size, &n};
        REFS_TRY(add_assets(&self, err));
    }
    const owner itself = {document, found, refs_str_view(NULL, 0), found->assets->size, &n};
    REFS_TRY(add_assets(&itself, err));
    /* A collection links to its items, even if its assets are the data. Links of an item are not
     * followed. */
    const bool is_item = refs_str_is(refs_json_text(refs_json_get(document, "type")), "Feature");
    const bool is_list = refs_json_is_array(features);
    if (is_item || (!is_list && found->assets->size > before)) return REFS_OK;
    return add_links(refs_json_get(document, "links"), found, err);
}

refs_status refs_stac_read(refs_str text, const refs_stac *found, refs_error *err) {
    REFS_SCOPED_JSON *doc = NULL;
    REFS_TRY(refs_json_parse(text, &doc, err));
    const refs_json *root = refs_json_root(doc);
    return refs_json_is_object(root) ? read_document(root, found, err)
                                     : refs_fail(err, REFS_CORRUPT, "not a JSON object");
}
