/* intern.c -- see intern.h. Linear probing over a table at most two thirds full. */
#include "refs/intern.h"

#include <time.h>
#include <unistd.h>

/* The exclusive or of both halves of the product. */
static uint64_t fold(uint64_t a, uint64_t b) {
#ifdef __SIZEOF_INT128__
    __extension__ const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
#else
    const uint64_t middle = (a >> 32) * (uint32_t)b + ((a & UINT32_MAX) * (b & UINT32_MAX) >> 32);
    return a * b ^ ((a >> 32) * (b >> 32) + (middle >> 32));
#endif
}

/* Multiplies eight bytes at a time by the table's secret key. */
static uint32_t hash_of(const refs_intern *table, refs_str text) {
    uint64_t hash = table->key ^ text.size, word;
    size_t i = 0;
    for (; i + 8 <= text.size; i += 8) {
        memcpy(&word, text.data + i, 8);
        hash = fold(hash ^ word, table->key) + 0x9E3779B97F4A7C15u;
    }
    word = 0;
    if (i < text.size) memcpy(&word, text.data + i, text.size - i);
    hash = fold(hash ^ word, table->key);
    return (uint32_t)(fold(hash, 0x9E3779B97F4A7C15u) >> 32);
}

/* A random odd number; if the system has no random numbers, from the time and an address. */
static uint64_t draw_key(const void *memory) {
    uint64_t key = 0;
    if (getentropy(&key, sizeof key) != 0) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        key = fold((uint64_t)now.tv_nsec ^ (uintptr_t)memory, 0x9E3779B97F4A7C15u);
    }
    return key | 1;
}

void refs_intern_clear(refs_intern *table) {
    refs_buf_clear(&table->text);
    refs_free(table->begin);
    refs_free(table->slots);
    memset(table, 0, sizeof *table);
}

refs_str refs_intern_get(const refs_intern *table, uint32_t id) {
    const uint64_t begin = table->begin[id];
    const uint64_t end = id + 1 < table->count ? table->begin[id + 1] : table->text.size;
    return refs_str_view((const char *)table->text.data + begin, (size_t)(end - begin - 1));
}

/* The slot of `text`, or the free slot for it. */
static size_t slot_of(const refs_intern *table, refs_str text, uint32_t hash) {
    size_t slot = hash & (table->n_slots - 1);
    for (; table->slots[slot].id != REFS_INTERN_NONE; slot = (slot + 1) & (table->n_slots - 1))
        if (table->slots[slot].hash == hash &&
            refs_str_equal(refs_intern_get(table, table->slots[slot].id), text))
            break;
    return slot;
}

static refs_status grow_slots(refs_intern *table, refs_error *err) {
    const size_t n_slots = table->n_slots > 0 ? table->n_slots * 2 : 16;
    struct refs_intern_slot *slots = refs_alloc(n_slots * sizeof *slots);
    if (slots == NULL) return refs_fail_nomem(err);
    memset(slots, 0xff, n_slots * sizeof *slots);
    if (table->key == 0) table->key = draw_key(slots);
    for (size_t i = 0; i < table->n_slots; i++) {
        if (table->slots[i].id == REFS_INTERN_NONE) continue;
        size_t slot = table->slots[i].hash & (n_slots - 1);
        while (slots[slot].id != REFS_INTERN_NONE) slot = (slot + 1) & (n_slots - 1);
        slots[slot] = table->slots[i];
    }
    refs_free(table->slots);
    table->slots = slots;
    table->n_slots = n_slots;
    return REFS_OK;
}

refs_status refs_intern_add(refs_intern *table, refs_str text, uint32_t *id, refs_error *err) {
    if (text.size > UINT32_MAX - 1 || table->count >= UINT32_MAX - 1)
        return refs_fail(
            err, REFS_LIMIT,
            "expected at most %u different strings, and no string of more bytes than that",
            UINT32_MAX - 1);
    if ((table->count + 1) * 3 > table->n_slots * 2) REFS_TRY(grow_slots(table, err));
    const uint32_t hash = hash_of(table, text);
    struct refs_intern_slot *slot = &table->slots[slot_of(table, text, hash)];
    if (slot->id != REFS_INTERN_NONE) {
        *id = slot->id;
        return REFS_OK;
    }
    REFS_GROW(table->begin, table->capacity, table->count, err);
    const uint64_t begin = table->text.size;
    const refs_status status = refs_buf_append_text(&table->text, text, err);
    if (status != REFS_OK) {
        table->text.size = begin; /* drops the string that was not added */
        return status;
    }
    table->begin[table->count] = begin;
    *id = (uint32_t)table->count++;
    *slot = (struct refs_intern_slot){*id, hash};
    return REFS_OK;
}

uint32_t refs_intern_find(const refs_intern *table, refs_str text) {
    if (table->n_slots == 0) return REFS_INTERN_NONE;
    return table->slots[slot_of(table, text, hash_of(table, text))].id;
}

size_t refs_intern_memory(const refs_intern *table) {
    return table->text.capacity + table->capacity * sizeof *table->begin +
           table->n_slots * sizeof *table->slots;
}
