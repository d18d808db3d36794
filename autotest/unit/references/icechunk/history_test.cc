// Branches, tags and snapshots of a repository.

#include "repository_under_test.h"

namespace {

// One line for each entry, without ids and times.
std::string History(const refs_icechunk *opened) {
    std::string said;
    const refs_icechunk_entry_visitor visitor = {
        [](void *user, const refs_icechunk_entry *entry, refs_error *) {
            static const char *const kinds[] = {"branch",   "tag",  "deleted tag",
                                                "snapshot", "flag", "status"};
            auto &text = *static_cast<std::string *>(user);
            text += kinds[entry->kind];
            if (entry->name.size > 0) text += " " + std::string(entry->name.data, entry->name.size);
            if (entry->message.size > 0)
                text += ": " + std::string(entry->message.data, entry->message.size);
            if (entry->parent[0] != '\0') text += " (child)";
            if (entry->is_current) text += " *";
            EXPECT_EQ(entry->kind <= REFS_ICECHUNK_IS_TAG ||
                          entry->kind == REFS_ICECHUNK_IS_SNAPSHOT,
                      strlen(entry->snapshot) == 20);
            text += "\n";
            return REFS_OK;
        },
        &said};
    refs_error err = REFS_ERROR_INIT;
    return refs_icechunk_each_entry(opened, &visitor, &err) == REFS_OK ? said : err.message;
}

TEST(IcechunkHistory, OfFormat2StandsInOneFile) {
    Repository repository(2);
    ASSERT_EQ(repository.Open(), "");
    const int before = repository.vfs.opens;
    EXPECT_EQ(History(repository.opened), "branch dev\nbranch main\ntag v1.0\ndeleted tag gone\n"
                                          "snapshot: on dev (child)\nsnapshot: first (child) *\n"
                                          "snapshot: Repository initialized\nstatus online\n");
    EXPECT_EQ(repository.vfs.opens, before);
}

TEST(IcechunkHistory, OfFormat1IsGatheredFromFiles) {
    Repository repository(1);
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(History(repository.opened), "branch dev\nbranch main\ntag v1.0\ndeleted tag gone\n"
                                          "snapshot: on dev (child)\nsnapshot: first (child) *\n"
                                          "snapshot: Repository initialized\n");
}

TEST(IcechunkHistory, OfFormat1PassesOverFoldersThatAreLeftOfWhatWasDeleted) {
    Repository repository(1);
    repository.vfs.files["repo/refs/branch.left/other"] = "";
    repository.vfs.files["repo/refs/tag.left/other"] = "";
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(History(repository.opened), "branch dev\nbranch main\ntag v1.0\ndeleted tag gone\n"
                                          "snapshot: on dev (child)\nsnapshot: first (child) *\n"
                                          "snapshot: Repository initialized\n");
    repository.vfs.files["repo/refs/branch.dev/ref.json"] = "{}";
    EXPECT_EQ(History(repository.opened),
              "repo/refs/branch.dev/ref.json: expected {\"snapshot\": \"<id>\"}");
}

TEST(IcechunkHistory, OfFormat1CannotBeListedWhereFoldersCannot) {
    Repository repository(1);
    refs_vfs vfs = *repository.vfs.get();
    vfs.list = nullptr;
    const refs_icechunk_source source = {&vfs, "repo", 1, repository.limits};
    const refs_icechunk_version version = {};
    refs_icechunk *opened = nullptr;
    ASSERT_EQ(refs_icechunk_open(&source, &version, &opened, nullptr), REFS_OK);
    EXPECT_EQ(History(opened), "cannot list branches and tags: in format 1 they are files, and "
                               "this server cannot list folders");
    refs_icechunk_free(opened);
}

} // namespace
