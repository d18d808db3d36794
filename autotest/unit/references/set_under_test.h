// set_under_test.h -- a set opened from text in memory, and what its keys refer to in one line
// each.
#ifndef REFS_SET_UNDER_TEST_H
#define REFS_SET_UNDER_TEST_H

#include <string>
#include <vector>

#include "memory_vfs.h"
#include "refs/json.h"
#include "refs/refset.h"

inline refs_str View(const std::string &text) {
    return refs_str_view(text.data(), text.size());
}

inline std::string Text(refs_str text) {
    return std::string(text.data, text.size);
}

class SetUnderTest {
  public:
    SetUnderTest() { options.notes = {Note, this}; }
    SetUnderTest(const SetUnderTest &) = delete;
    SetUnderTest &operator=(const SetUnderTest &) = delete;
    ~SetUnderTest() { refs_set_free(set); }

    refs_status Open(const std::string &json) {
        vfs.files[location] = json;
        return OpenIt();
    }

    // Opens what there is.
    refs_status OpenIt() {
        options.templates = List(templates, templateList_);
        options.rewrites = List(rewrites, rewriteList_);
        refs_set_free(set); // where one was opened before
        set = nullptr;
        return refs_set_open(vfs.get(), location.c_str(), &options, &set, &error);
    }

    // What `key` refers to: "text" as JSON, [url], [url, offset, length], "absent", or the error.
    std::string At(const std::string &key) const {
        refs_ref ref;
        refs_error err = REFS_ERROR_INIT;
        const refs_status status = refs_set_find(set, View(key), &ref, &err);
        if (status == REFS_NOT_FOUND && err.status == REFS_OK) return "absent";
        if (status != REFS_OK) return std::string(refs_status_text(status)) + ": " + err.message;
        const std::string text = Text(ref);
        refs_ref_release(&ref);
        return text;
    }

    std::string LocationAt(const std::string &key) const {
        refs_ref ref;
        const refs_status status = refs_set_find(set, View(key), &ref, nullptr);
        const std::string found = status == REFS_OK && ref.location != nullptr ? ref.location : "";
        refs_ref_release(&ref);
        return found;
    }

    static std::string Text(const refs_ref &ref) {
        if (ref.kind == REFS_REF_INLINE) return Quoted(ref.bytes);
        if (ref.kind == REFS_REF_WHOLE) return std::string("[") + ref.url + "]";
        return std::string("[") + ref.url + ", " + std::to_string(ref.offset) + ", " +
               std::to_string(ref.length) + "]";
    }

    // The keys that are no chunks', each with a blank behind it.
    std::string Names() const {
        std::string names;
        const refs_status status = refs_set_each_name(
            set,
            [](void *user, refs_str key, refs_error *) {
                *static_cast<std::string *>(user) += ::Text(key) + " ";
                return REFS_OK;
            },
            &names, nullptr);
        return status == REFS_OK ? names : "failed";
    }

    std::string location = "refs.json";
    std::vector<std::string> templates, rewrites;
    refs_set_options options = REFS_SET_OPTIONS_INIT;
    MemoryVfs vfs;
    refs_set *set = nullptr;
    refs_error error = REFS_ERROR_INIT;
    std::vector<std::string> warnings, debug_notes;

  private:
    static void Note(void *user, refs_note_kind kind, const char *text) {
        auto *self = static_cast<SetUnderTest *>(user);
        (kind == REFS_NOTE_WARNING ? self->warnings : self->debug_notes).push_back(text);
    }

    static const char *const *List(const std::vector<std::string> &strings,
                                   std::vector<const char *> &list) {
        list.clear();
        for (const std::string &text : strings) list.push_back(text.c_str());
        list.push_back(nullptr);
        return list.data();
    }

    static std::string Quoted(refs_bytes bytes) {
        refs_buf json = REFS_BUF_INIT;
        const refs_str text = refs_str_view(reinterpret_cast<const char *>(bytes.data), bytes.size);
        const refs_status status = refs_json_write_string(text, &json, nullptr);
        const std::string quoted(reinterpret_cast<const char *>(json.data), json.size);
        refs_buf_clear(&json);
        return status == REFS_OK ? quoted : "failed";
    }

    std::vector<const char *> templateList_, rewriteList_;
};

#endif
