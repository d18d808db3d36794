/* fuzz_netcdf.c -- sets in JSON through the dispatch table of libncrefs, as a program asks that
 * prints all of a file: names end, what is listed is found by its name, and each array is read or
 * refused. */
#include <stdlib.h>
#include <unistd.h>

#include "fuzz.h"
#include "ncrefs.h"
#include "refs/bytes.h"

#define NCID (7 << 16)

/* Elements that are read of each variable. */
#define MAX_READ 4096

static const NC_Dispatch *table(void) {
    return ncrefs_table();
}

static void check(bool holds) {
    if (!holds) abort();
}

static void free_strings(nc_type type, void *values, size_t n) {
    char **strings = values;
    for (size_t i = 0; type == NC_STRING && i < n; i++) free(strings[i]);
}

static void visit_attributes(int group, int varid, int n_atts) {
    for (int i = 0; i < n_atts; i++) {
        char name[NC_MAX_NAME + 1];
        nc_type type = NC_NAT;
        size_t n = 0, size = 0;
        check(table()->inq_attname(group, varid, i, name) == NC_NOERR);
        if (table()->inq_att(group, varid, name, &type, &n) != NC_NOERR) continue; /* it was cut */
        check(table()->inq_type(group, type, NULL, &size) == NC_NOERR);
        void *values = refs_calloc(n, size > 8 ? size : 8);
        if (values == NULL) continue;
        check(table()->get_att(group, varid, name, values, type) == NC_NOERR);
        free_strings(type, values, n);
        (void)table()->get_att(group, varid, name, values, NC_DOUBLE);
        refs_free(values);
    }
}

static void read_variable(int group, int varid, int n_dims, const int *dims, nc_type type) {
    size_t start[NC_MAX_VAR_DIMS] = {0}, count[NC_MAX_VAR_DIMS], n = 1, size = 0;
    ptrdiff_t stride[NC_MAX_VAR_DIMS];
    for (int dim = 0; dim < n_dims; dim++) {
        check(table()->inq_dim(group, dims[dim], NULL, &count[dim]) == NC_NOERR);
        if (n > 0 && count[dim] > MAX_READ / n) count[dim] = MAX_READ / n;
        stride[dim] = 1;
        n *= count[dim];
    }
    check(table()->inq_type(group, type, NULL, &size) == NC_NOERR);
    void *values = refs_calloc(n + 1, size > 8 ? size : 8);
    if (values == NULL) return;
    if (table()->get_vara(group, varid, start, count, values, type) == NC_NOERR)
        free_strings(type, values, n);
    (void)table()->get_vars(group, varid, start, count, stride, values, NC_DOUBLE);
    (void)table()->get_vars(group, varid, start, count, stride, values, NC_BYTE);
    refs_free(values);
}

static void visit_variable(int group, int varid) {
    char name[NC_MAX_NAME + 1];
    nc_type type = NC_NAT;
    int n_dims = 0, dims[NC_MAX_VAR_DIMS], n_atts = 0, no_fill, endian, shuffle, level, id;
    size_t chunks[NC_MAX_VAR_DIMS];
    check(table()->inq_var_all(group, varid, name, &type, &n_dims, dims, &n_atts, &shuffle, NULL,
                               &level, NULL, NULL, chunks, &no_fill, NULL, &endian, NULL, NULL,
                               NULL) == NC_NOERR);
    check(table()->inq_varid(group, name, &id) == NC_NOERR || strlen(name) == NC_MAX_NAME);
    visit_attributes(group, varid, n_atts);
    read_variable(group, varid, n_dims, dims, type);
}

static void visit_group(int group, int depth) {
    int n_vars = 0, n_atts = 0, n_groups = 0, n_dims = 0;
    check(table()->inq(group, &n_dims, &n_vars, &n_atts, NULL) == NC_NOERR);
    visit_attributes(group, NC_GLOBAL, n_atts);
    for (int varid = 0; varid < n_vars; varid++) visit_variable(group, varid);
    check(table()->inq_grps(group, &n_groups, NULL) == NC_NOERR);
    int *groups = refs_calloc((size_t)n_groups + 1, sizeof *groups);
    if (groups != NULL && depth < 100) {
        check(table()->inq_grps(group, &n_groups, groups) == NC_NOERR);
        for (int i = 0; i < n_groups; i++) visit_group(groups[i], depth + 1);
    }
    refs_free(groups);
}

/* No set has anybody asked on another machine. */
static void stay_here(void) {
    static const char *const proxies[] = {"http_proxy", "https_proxy", "all_proxy"};
    for (size_t i = 0; i < sizeof proxies / sizeof *proxies; i++)
        setenv(proxies[i], "http://127.0.0.1:1", 1);
    setenv("no_proxy", "", 1);
    setenv("GDAL_HTTP_MAX_RETRY", "0", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char name[] = "/tmp/fuzz_netcdf_XXXXXX";
    stay_here();
    int file = mkstemp(name);
    if (file < 0) return 0;
    bool is_written = write(file, data, size) == (ssize_t)size;
    close(file);
    if (is_written && table()->open(name, 0, 0, NULL, NULL, table(), NCID) == NC_NOERR) {
        visit_group(NCID, 0);
        check(table()->close(NCID, NULL) == NC_NOERR);
    }
    unlink(name);
    return 0;
}
