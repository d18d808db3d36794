/* _refs.c -- librefs for Python: the module gdal_refs._refs.
 *
 * It keeps to the limited API of Python 3.9, so that one build serves all later versions, and knows
 * nothing of NumPy: what is read goes into whatever has a writable buffer. Everything else is in
 * Python, in gdal_refs/dataset.py.
 *
 * The GIL is released while librefs works. While a call waits, the thread that made it looks for
 * signals 10 times a second, so that Ctrl-C ends the call with KeyboardInterrupt.
 */
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x03090000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <refs/refs.h>

#define MAX_AXES 32

#ifdef __GNUC__
/* Slots of types are functions in pointers to data, as Python has them. */
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif

/* A part of the stable ABI that headers do not declare any more: those of the buffer protocol came
 * to it with Python 3.11. It fails unless the object has a contiguous, writable buffer. */
extern int PyObject_AsWriteBuffer(PyObject *object, void **buffer, Py_ssize_t *size);

static PyObject *text_of(const char *text, Py_ssize_t size) {
    return PyUnicode_DecodeUTF8(text, size, "surrogateescape");
}

static PyObject *text_or_none(const char *text) {
    if (text != NULL) return text_of(text, (Py_ssize_t)strlen(text));
    Py_RETURN_NONE;
}

/* -- failures ---------------------------------------------------------------------------------- */

/* Raises the RefsError of a failure. */
static PyObject *raise_failure(refs_status status, const char *name, const refs_error *error) {
    refs_error_place place;
    if (status == REFS_NOMEM) return PyErr_NoMemory();
    refs_error_locate(error, &place);
    PyObject *errors = PyImport_ImportModule("gdal_refs.errors");
    PyObject *made =
        errors != NULL ? PyObject_CallMethod(errors, "make", "NsNNN", text_or_none(error->message),
                                             refs_status_code(status), text_or_none(name),
                                             text_or_none(place.key), text_or_none(place.url))
                       : NULL;
    if (made != NULL) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(errors);
    return NULL;
}

/* -- calls without the GIL --------------------------------------------------------------------- */

typedef struct dataset {
    PyObject_HEAD refs_dataset *handle; /* NULL once it is closed */
    char *name;
    int n_calls;   /* under way, in other threads */
    int is_closed; /* to be closed when the last of them ends */
    volatile int is_cancelled;
} dataset;

/* A call of librefs, as long as it takes. */
typedef struct call {
    dataset *self; /* or NULL */
    PyThreadState *state;
    int has_raised;
} call;

static bool look_for_signals(void *user, double done) {
    call *made = user;
    (void)done;
    if (made->self != NULL && made->self->is_cancelled) return false;
    PyEval_RestoreThread(made->state);
    if (PyErr_CheckSignals() != 0) made->has_raised = 1;
    made->state = PyEval_SaveThread();
    return !made->has_raised;
}

static void begin(call *made, dataset *self) {
    *made = (call){self, NULL, 0};
    if (self != NULL) self->n_calls++;
    made->state = PyEval_SaveThread();
}

static void close_handle(dataset *self) {
    refs_dataset *handle = self->handle;
    self->handle = NULL;
    if (handle == NULL) return;
    PyThreadState *state = PyEval_SaveThread();
    refs_dataset_close(handle);
    PyEval_RestoreThread(state);
}

/* Returns whether the call came to something; else an exception is set. */
static int end(call *made, refs_status status, const char *name, const refs_error *error) {
    PyEval_RestoreThread(made->state);
    if (made->self != NULL && --made->self->n_calls == 0 && made->self->is_closed)
        close_handle(made->self);
    if (made->has_raised) return 0;
    if (status == REFS_OK) return 1;
    raise_failure(status, name, error);
    return 0;
}

/* -- opening ----------------------------------------------------------------------------------- */

/* The texts of a sequence, NULL-ended; `owned` holds them. */
static const char **list_texts(PyObject *sequence, PyObject **owned) {
    const Py_ssize_t n = PySequence_Size(sequence);
    *owned = n >= 0 ? PyList_New(0) : NULL;
    const char **list = n >= 0 ? PyMem_Malloc(((size_t)n + 1) * sizeof *list) : NULL;
    for (Py_ssize_t i = 0; list != NULL && *owned != NULL && i < n; i++) {
        PyObject *item = PySequence_GetItem(sequence, i);
        PyObject *bytes = item != NULL ? PyUnicode_EncodeFSDefault(item) : NULL;
        Py_XDECREF(item);
        char *text = NULL; /* without a NUL in it: else it would be another text for the library */
        if (bytes == NULL || PyBytes_AsStringAndSize(bytes, &text, NULL) != 0 ||
            PyList_Append(*owned, bytes) != 0)
            Py_CLEAR(*owned);
        list[i] = text;
        Py_XDECREF(bytes);
    }
    if (list == NULL || *owned == NULL) {
        if (!PyErr_Occurred()) PyErr_NoMemory();
        PyMem_Free(list);
        Py_CLEAR(*owned);
        return NULL;
    }
    list[n] = NULL;
    return list;
}

static int open_handle(dataset *self, PyObject *name, PyObject *options) {
    PyObject *owned = NULL;
    const char **list = list_texts(options, &owned);
    const char *text = PyBytes_AsString(name);
    int is_open = 0;
    if (list != NULL && text != NULL) {
        refs_error error = REFS_ERROR_INIT;
        call made;
        const refs_watcher watcher = {look_for_signals, &made};
        begin(&made, NULL);
        const refs_status status = refs_dataset_open(text, list, &watcher, &self->handle, &error);
        is_open = end(&made, status, text, &error);
        self->name = is_open ? PyMem_Malloc(strlen(text) + 1) : NULL;
        if (self->name != NULL) memcpy(self->name, text, strlen(text) + 1);
        if (is_open && self->name == NULL) PyErr_NoMemory();
        is_open = self->name != NULL;
    }
    PyMem_Free(list);
    Py_XDECREF(owned);
    return is_open;
}

static PyObject *new_dataset(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *name = NULL, *options = NULL;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "O&O:Dataset", PyUnicode_FSConverter, &name, &options))
        return NULL;
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    dataset *self = (dataset *)allocate(type, 0);
    if (self != NULL && !open_handle(self, name, options)) {
        Py_DECREF(self);
        self = NULL;
    }
    Py_DECREF(name);
    return (PyObject *)self;
}

static void free_dataset(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    dataset *self = (dataset *)object;
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    close_handle(self);
    PyMem_Free(self->name);
    release(object);
    Py_DECREF(type);
}

static PyObject *close_dataset(PyObject *object, PyObject *unused) {
    dataset *self = (dataset *)object;
    (void)unused;
    self->is_closed = 1;
    if (self->n_calls == 0) close_handle(self);
    Py_RETURN_NONE;
}

static PyObject *cancel_dataset(PyObject *object, PyObject *unused) {
    (void)unused;
    ((dataset *)object)->is_cancelled = 1;
    Py_RETURN_NONE;
}

/* NULL, with an exception, once it is closed. */
static refs_dataset *handle_of(PyObject *object) {
    dataset *self = (dataset *)object;
    if (self->handle != NULL && !self->is_closed) return self->handle;
    PyErr_SetString(PyExc_ValueError, "the dataset is closed");
    return NULL;
}

/* -- what is in it ----------------------------------------------------------------------------- */

/* Puts what may be NULL into a list; false, with an exception, if it is. */
static int put(PyObject *list, Py_ssize_t i, PyObject *item) {
    if (item == NULL) return 0;
    return PyList_SetItem(list, i, item) == 0;
}

static PyObject *list_of_texts(const char *const *texts, size_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++)
        if (!put(list, (Py_ssize_t)i, text_or_none(texts[i]))) Py_CLEAR(list);
    return list;
}

static PyObject *list_of_numbers(const uint64_t *numbers, size_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++)
        if (!put(list, (Py_ssize_t)i, PyLong_FromUnsignedLongLong(numbers[i]))) Py_CLEAR(list);
    return list;
}

static Py_ssize_t size_of_type(const char *type) {
    return (Py_ssize_t)strtoul(type + 2, NULL, 10); /* "<f4" */
}

/* A text, a list of texts, or (type, bytes, whether it is a list). */
static PyObject *value_of(const refs_attribute *attribute) {
    if (attribute->kind == REFS_ATTRIBUTE_TEXT)
        return text_of(attribute->values, (Py_ssize_t)attribute->n);
    if (attribute->kind == REFS_ATTRIBUTE_TEXTS)
        return list_of_texts(attribute->values, attribute->n);
    return Py_BuildValue("(sy#O)", attribute->type, (const char *)attribute->values,
                         (Py_ssize_t)attribute->n * size_of_type(attribute->type),
                         attribute->is_list ? Py_True : Py_False);
}

static PyObject *list_attributes(const refs_attribute *attributes, size_t n) {
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *name = text_or_none(attributes[i].name);
        PyObject *value = name != NULL ? value_of(&attributes[i]) : NULL;
        PyObject *pair = value != NULL ? PyTuple_Pack(2, name, value) : NULL;
        Py_XDECREF(name);
        Py_XDECREF(value);
        if (!put(list, (Py_ssize_t)i, pair)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *describe_group(const refs_group_info *group) {
    return Py_BuildValue("{s:N,s:N,s:N}", "path", text_or_none(group->path), "attributes",
                         list_attributes(group->attributes, group->n_attributes), "unlimited",
                         list_of_texts(group->unlimited, group->n_unlimited));
}

static PyObject *describe_array(const refs_array_info *array) {
    PyObject *fill = Py_None;
    if (array->fill != NULL)
        fill = PyBytes_FromStringAndSize(array->fill, (Py_ssize_t)array->size);
    else
        Py_INCREF(fill);
    return Py_BuildValue("{s:n,s:N,s:N,s:N,s:s,s:N,s:N,s:N,s:N,s:s,s:O,s:N,s:N}", "number",
                         (Py_ssize_t)array->number, "path", text_or_none(array->path), "name",
                         text_or_none(array->name), "group", text_or_none(array->group), "type",
                         array->type, "shape", list_of_numbers(array->shape, array->rank), "chunks",
                         list_of_numbers(array->chunks, array->rank), "dims",
                         list_of_texts(array->dims, array->rank), "fill", fill, "codecs",
                         array->codecs, "is_aggregation",
                         array->is_aggregation ? Py_True : Py_False, "attributes",
                         list_attributes(array->attributes, array->n_attributes), "problem",
                         text_or_none(array->problem));
}

static PyObject *groups(PyObject *object, PyObject *unused) {
    const refs_dataset *handle = handle_of(object);
    PyObject *list = handle != NULL ? PyList_New(0) : NULL;
    const refs_group_info *group;
    (void)unused;
    for (size_t i = 0; list != NULL && (group = refs_dataset_group(handle, i)) != NULL; i++) {
        PyObject *item = describe_group(group);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *arrays(PyObject *object, PyObject *unused) {
    const refs_dataset *handle = handle_of(object);
    PyObject *list = handle != NULL ? PyList_New(0) : NULL;
    const refs_array_info *array;
    (void)unused;
    for (size_t i = 0; list != NULL && (array = refs_dataset_array(handle, i)) != NULL; i++) {
        PyObject *item = describe_array(array);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* -- reading ----------------------------------------------------------------------------------- */

/* One of (start, count, step), ("index", numbers) and ("points", numbers); numbers are bytes of
 * 64-bit integers in this machine's byte order. */
static int parse_axis(PyObject *item, refs_axis *axis) {
    unsigned long long start, count;
    long long step;
    const char *kind, *numbers;
    Py_ssize_t size;
    if (PyTuple_Check(item) && PyTuple_Size(item) == 3) {
        if (!PyArg_ParseTuple(item, "KKL", &start, &count, &step)) return 0;
        *axis = (refs_axis){REFS_AXIS_RANGE, count, start, step, NULL};
        return 1;
    }
    if (!PyArg_ParseTuple(item, "sy#", &kind, &numbers, &size)) return 0;
    *axis = (refs_axis){strcmp(kind, "points") == 0 ? REFS_AXIS_POINTS : REFS_AXIS_INDEX,
                        (uint64_t)size / sizeof(uint64_t), 0, 1,
                        (const uint64_t *)(const void *)numbers};
    return 1;
}

static int parse_axes(PyObject *tuple, const refs_array_info *array, refs_axis *axes) {
    if (array->rank > MAX_AXES || PyTuple_Size(tuple) != (Py_ssize_t)array->rank) {
        PyErr_Format(PyExc_ValueError, "%s: expected an axis for each of %zu dimensions",
                     array->path, array->rank);
        return 0;
    }
    for (size_t dim = 0; dim < array->rank; dim++)
        if (!parse_axis(PyTuple_GetItem(tuple, (Py_ssize_t)dim), &axes[dim])) return 0;
    return 1;
}

static const refs_array_info *find_array(const refs_dataset *handle, Py_ssize_t number) {
    const refs_array_info *array = refs_dataset_array(handle, (size_t)number);
    if (array == NULL) PyErr_SetString(PyExc_IndexError, "there is no array of this number");
    return array;
}

static PyObject *read_array(PyObject *object, PyObject *arguments) {
    dataset *self = (dataset *)object;
    refs_dataset *handle = handle_of(object);
    PyObject *tuple, *buffer;
    Py_ssize_t number, size;
    refs_axis axes[MAX_AXES];
    refs_error error = REFS_ERROR_INIT;
    call made;
    const refs_watcher watcher = {look_for_signals, &made};
    refs_target target = {NULL, 0, &watcher};
    if (handle == NULL ||
        !PyArg_ParseTuple(arguments, "nO!O:read", &number, &PyTuple_Type, &tuple, &buffer))
        return NULL;
    const refs_array_info *array = find_array(handle, number);
    if (array == NULL || !parse_axes(tuple, array, axes) ||
        PyObject_AsWriteBuffer(buffer, &target.values, &size) != 0)
        return NULL;
    target.size = (size_t)size;
    begin(&made, self);
    const refs_status status = refs_dataset_read(handle, array, axes, &target, &error);
    if (!end(&made, status, self->name, &error)) return NULL;
    Py_RETURN_NONE;
}

static PyObject *read_texts(PyObject *object, PyObject *arguments) {
    dataset *self = (dataset *)object;
    refs_dataset *handle = handle_of(object);
    refs_error error = REFS_ERROR_INIT;
    refs_texts *texts = NULL;
    Py_ssize_t number;
    call made;
    const refs_watcher watcher = {look_for_signals, &made};
    if (handle == NULL || !PyArg_ParseTuple(arguments, "n:read_texts", &number)) return NULL;
    const refs_array_info *array = find_array(handle, number);
    if (array == NULL) return NULL;
    begin(&made, self);
    const refs_status status = refs_dataset_read_texts(handle, array, &watcher, &texts, &error);
    PyObject *list = NULL;
    if (end(&made, status, self->name, &error)) list = list_of_texts(texts->texts, texts->n);
    refs_texts_free(texts);
    return list;
}

static PyObject *list_fragments(PyObject *object, PyObject *arguments) {
    dataset *self = (dataset *)object;
    refs_dataset *handle = handle_of(object);
    refs_error error = REFS_ERROR_INIT;
    refs_lengths *lengths = NULL;
    Py_ssize_t number, dim;
    call made;
    const refs_watcher watcher = {look_for_signals, &made};
    if (handle == NULL || !PyArg_ParseTuple(arguments, "nn:list_fragments", &number, &dim))
        return NULL;
    const refs_array_info *array = find_array(handle, number);
    if (array == NULL) return NULL;
    const refs_listing listing = {(size_t)dim, &watcher};
    PyObject *list = NULL;
    begin(&made, self);
    const refs_status status =
        refs_dataset_list_fragments(handle, array, &listing, &lengths, &error);
    if (end(&made, status, self->name, &error))
        list = list_of_numbers(lengths->lengths, lengths->n);
    refs_lengths_free(lengths);
    return list;
}

/* -- keys and values --------------------------------------------------------------------------- */

static PyObject *list_of_values(const refs_values *values) {
    PyObject *list = PyList_New((Py_ssize_t)values->n);
    for (size_t i = 0; list != NULL && i < values->n; i++) {
        const refs_value *value = &values->values[i];
        PyObject *item = Py_None;
        if (value->data != NULL)
            item = PyBytes_FromStringAndSize(value->data, (Py_ssize_t)value->size);
        else
            Py_INCREF(item);
        if (!put(list, (Py_ssize_t)i, item)) Py_CLEAR(list);
    }
    return list;
}

static PyObject *get_values(PyObject *object, PyObject *arguments) {
    dataset *self = (dataset *)object;
    refs_dataset *handle = handle_of(object);
    PyObject *sequence, *owned = NULL, *list = NULL;
    refs_error error = REFS_ERROR_INIT;
    refs_values *values = NULL;
    call made;
    const refs_watcher watcher = {look_for_signals, &made};
    if (handle == NULL || !PyArg_ParseTuple(arguments, "O:get", &sequence)) return NULL;
    const char **texts = list_texts(sequence, &owned);
    if (texts == NULL) return NULL;
    const refs_keys keys = {(size_t)PyList_Size(owned), texts, &watcher};
    begin(&made, self);
    const refs_status status = refs_dataset_get(handle, &keys, &values, &error);
    if (end(&made, status, self->name, &error)) list = list_of_values(values);
    refs_values_free(values);
    PyMem_Free(texts);
    Py_DECREF(owned);
    return list;
}

static PyObject *list_keys(PyObject *object, PyObject *unused) {
    dataset *self = (dataset *)object;
    refs_dataset *handle = handle_of(object);
    refs_error error = REFS_ERROR_INIT;
    refs_texts *keys = NULL;
    call made;
    (void)unused;
    if (handle == NULL) return NULL;
    begin(&made, self);
    const refs_status status = refs_dataset_list_keys(handle, &keys, &error);
    if (!end(&made, status, self->name, &error)) return NULL;
    PyObject *list = list_of_texts(keys->texts, keys->n);
    refs_texts_free(keys);
    return list;
}

/* -- what happened ----------------------------------------------------------------------------- */

static PyObject *counters(PyObject *object, PyObject *unused) {
    refs_dataset *handle = handle_of(object);
    refs_counters counts;
    (void)unused;
    if (handle == NULL) return NULL;
    refs_dataset_count(handle, &counts);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K}", "requests", (unsigned long long)counts.requests,
                         "bytes", (unsigned long long)counts.bytes, "chunks_decoded",
                         (unsigned long long)counts.chunks_decoded, "chunks_absent",
                         (unsigned long long)counts.chunks_absent, "cache_hits",
                         (unsigned long long)counts.cache_hits);
}

static PyObject *take_warnings(PyObject *object, PyObject *unused) {
    refs_dataset *handle = ((dataset *)object)->handle; /* a read may end after it was closed */
    PyObject *list = PyList_New(0);
    char text[2048];
    (void)unused;
    while (list != NULL && handle != NULL && refs_dataset_take_warning(handle, text, sizeof text)) {
        PyObject *item = text_or_none(text);
        if (item == NULL || PyList_Append(list, item) != 0) Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

/* -- the module -------------------------------------------------------------------------------- */

static PyMethodDef methods[] = {
    {"groups", groups, METH_NOARGS, "Groups, the root first: a dict for each."},
    {"arrays", arrays, METH_NOARGS, "Arrays: a dict for each."},
    {"read", read_array, METH_VARARGS, "read(number, axes, buffer): elements of an array."},
    {"read_texts", read_texts, METH_VARARGS, "read_texts(number): all elements of an array."},
    {"list_fragments", list_fragments, METH_VARARGS,
     "list_fragments(number, dim): lengths of fragments along a dimension."},
    {"get", get_values, METH_VARARGS, "get(keys): values as they are stored, or None."},
    {"list_keys", list_keys, METH_NOARGS, "Keys that are not of chunks."},
    {"counters", counters, METH_NOARGS, "Requests, bytes and chunks since it was opened."},
    {"take_warnings", take_warnings, METH_NOARGS, "Warnings since the last call."},
    {"cancel", cancel_dataset, METH_NOARGS, "Ends all reads, current and later ones."},
    {"close", close_dataset, METH_NOARGS, "Closes it once current reads have ended."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {{Py_tp_new, (void *)new_dataset},
                              {Py_tp_dealloc, (void *)free_dataset},
                              {Py_tp_methods, methods},
                              {Py_tp_doc, (void *)"Dataset(name, options): what a name opens."},
                              {0, NULL}};

static PyType_Spec spec = {"gdal_refs._refs.Dataset", sizeof(dataset), 0, Py_TPFLAGS_DEFAULT,
                           slots};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "_refs", "librefs, see refs.h.", -1, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__refs(void);

PyMODINIT_FUNC PyInit__refs(void) {
    PyObject *made = PyModule_Create(&module);
    PyObject *type = made != NULL ? PyType_FromSpec(&spec) : NULL;
    if (type == NULL || PyModule_AddObject(made, "Dataset", type) != 0 ||
        PyModule_AddStringConstant(made, "version", refs_version()) != 0) {
        Py_XDECREF(type);
        Py_XDECREF(made);
        return NULL;
    }
    return made;
}
