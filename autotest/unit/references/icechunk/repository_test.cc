// Repositories that icechunk-python wrote: snapshots, and where their chunks are.

#include "repository_under_test.h"

extern "C" {
#include "icechunk/file.h"
}

namespace {

class EachFormat : public testing::TestWithParam<unsigned> {
  protected:
    EachFormat() : repository(GetParam()) {}
    Repository repository;
};

INSTANTIATE_TEST_SUITE_P(Icechunk, EachFormat, testing::Values(1u, 2u));

std::string Nodes(const refs_icechunk *opened) {
    std::string said;
    const refs_icechunk_node_visitor visitor = {
        [](void *user, refs_str path, refs_bytes metadata, refs_error *) {
            *static_cast<std::string *>(user) += std::string(path.data, path.size) + " ";
            EXPECT_EQ(metadata.data[0], '{');
            return REFS_OK;
        },
        &said};
    EXPECT_EQ(refs_icechunk_each_node(opened, &visitor, nullptr), REFS_OK);
    return said;
}

TEST_P(EachFormat, ListsTheNodesOfTheMainBranch) {
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(Nodes(repository.opened), "/ /g /g/split /inline /scalar /virtual ");
    EXPECT_NE(repository.Current(), "");
}

TEST_P(EachFormat, FindsChunksOfEveryKind) {
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 3 0 4 0");
    EXPECT_EQ(repository.Find("scalar", {}), "inline 0 0 0 0 0 0 4 64");
    EXPECT_EQ(repository.Find("g/split", {1, 2}), "repo/chunks 0+16");
    EXPECT_EQ(repository.Find("virtual", {0}), "s3://bucket/a%20file.bin 5+1 \"tag\"");
    EXPECT_EQ(repository.Find("virtual", {1}),
              GetParam() == 1 ? "s3://other/b.bin 7+1" : "vcc://other/b.bin 7+1");
    EXPECT_EQ(repository.Find("virtual", {3}), "s3://bucket/dated.bin 3+1 until 1714521600");
    for (uint64_t i = 4; i < 2000; i++)
        ASSERT_EQ(repository.Find("virtual", {i}),
                  "s3://bucket/many/" + std::to_string(i) + ".bin " + std::to_string(i) + "+1");
}

TEST_P(EachFormat, TellsAbsentChunksFromThoseThatAreThere) {
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(repository.Find("g/split", {0, 0}), "absent");
    EXPECT_EQ(repository.Find("g/split", {0, 3}), "absent");
    EXPECT_EQ(repository.Find("g/split", {UINT64_MAX, 0}), "absent");
    EXPECT_EQ(repository.Find("g/split", {0}), "absent");
    EXPECT_EQ(repository.Find("virtual", {2000}), "absent");
    EXPECT_EQ(repository.Find("g", {}), "absent");
    EXPECT_EQ(repository.Find("nothing", {0}), "absent");
}

TEST_P(EachFormat, ReadsOnlyTheManifestThatCoversAChunkAndOnlyOnce) {
    ASSERT_EQ(repository.Open(), "");
    const int before = repository.vfs.opens;
    EXPECT_EQ(repository.Find("g/split", {0, 1}), "repo/chunks 0+16");
    EXPECT_EQ(repository.Find("g/split", {1, 1}), "repo/chunks 0+16");
    EXPECT_EQ(repository.vfs.opens - before, 1);
    EXPECT_EQ(repository.Find("g/split", {0, 2}), "repo/chunks 0+16");
    EXPECT_EQ(repository.vfs.opens - before, 2);
}

TEST_P(EachFormat, OpensWithTwoFiles) {
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(repository.vfs.opens, 2);
}

TEST_P(EachFormat, GoesToBranchesTagsAndSnapshots) {
    refs_icechunk_version version = {};
    version.branch = "dev";
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 13 0 14 0");
    const std::string dev = repository.Current();
    version = {};
    version.tag = "v1.0";
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 3 0 4 0");
    version = {};
    version.snapshot = dev.c_str();
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 13 0 14 0");
    version = {};
    version.tag_or_snapshot = dev.c_str();
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 13 0 14 0");
    version.tag_or_snapshot = "v1.0";
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 3 0 4 0");
}

TEST_P(EachFormat, SaysThatATagWasDeleted) {
    refs_icechunk_version version = {};
    version.tag = "gone";
    EXPECT_EQ(repository.Open(version), "invalid: the tag \"gone\" was deleted");
}

TEST_P(EachFormat, RefusesWhatCannotBeAskedFor) {
    refs_icechunk_version version = {};
    version.branch = "main";
    version.tag = "v1.0";
    EXPECT_EQ(repository.Open(version),
              "invalid: expected one of branch, tag and snapshot, found several");
    version = {};
    version.tag = "v1.0";
    version.as_of = "2024-01-01";
    EXPECT_EQ(repository.Open(version),
              "invalid: a time selects a snapshot of a branch: leave out tag and snapshot");
    version = {};
    version.snapshot = "main";
    EXPECT_EQ(repository.Open(version),
              "invalid: invalid snapshot id \"main\": expected 20 characters of Crockford base 32, "
              "of which the last is 0 or G");
    version = {};
    version.as_of = "1999-01-01";
    EXPECT_EQ(repository.Open(version), "invalid: the branch has no snapshot as old as 1999-01-01");
    version.as_of = "then";
    EXPECT_EQ(
        repository.Open(version),
        "invalid: expected a time such as 2024-05-01 or 2024-05-01T12:00:00Z, found \"then\"");
}

TEST_P(EachFormat, GoesBackToATime) {
    refs_icechunk_version version = {};
    version.branch = "dev";
    version.as_of = "2999-01-01";
    ASSERT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Find("inline", {1}), "inline 13 0 14 0");
}

TEST_P(EachFormat, NamesTheBranchesAndTagsThatThereAre) {
    refs_icechunk_version version = {};
    version.branch = "trunk";
    EXPECT_EQ(repository.Open(version),
              "invalid: the repository has no branch \"trunk\"; there are: dev, main");
    version = {};
    version.tag = "v9";
    EXPECT_EQ(repository.Open(version),
              "invalid: the repository has no tag \"v9\"; there are: v1.0");
}

TEST(IcechunkFormat1, NamesNoFolderThatIsLeftOfWhatWasDeleted) {
    Repository repository(1);
    repository.vfs.files["repo/refs/branch.left/other"] = "";
    refs_icechunk_version version = {};
    version.branch = "trunk";
    EXPECT_EQ(repository.Open(version),
              "invalid: the repository has no branch \"trunk\"; there are: dev, main");
}

TEST(IcechunkFormat1, FindsBranchesAndTagsWhoseNamesAreEncoded) {
    Repository repository(1);
    const std::string reference = repository.vfs.files["repo/refs/branch.main/ref.json"];
    repository.vfs.files["repo/refs/branch.%C3%BC b%231/ref.json"] = reference;
    repository.vfs.files["repo/refs/tag.50%25/ref.json"] = reference;
    refs_icechunk_version branch = {}, tag = {}, other = {};
    branch.branch = "\xc3\xbc b#1";
    tag.tag_or_snapshot = "50%";
    other.branch = "trunk";
    for (const refs_icechunk_version &version : {branch, tag})
        EXPECT_EQ(repository.Open(version), "");
    EXPECT_EQ(repository.Open(other), "invalid: the repository has no branch \"trunk\"; there are: "
                                      "dev, main, \xc3\xbc b#1");
}

TEST(IcechunkFormat1, IsNotThereWhereAServerAnswersEachNameWithAPage) {
    Repository repository(1);
    repository.vfs.files["repo/refs/branch.main/ref.json"] =
        "<!DOCTYPE html>" + std::string(200000, ' ');
    EXPECT_NE(repository.Open().find("expected a ref, found a web page (HTML)"), std::string::npos);
}

TEST(IcechunkFormat1, NamesTheFirstOfManyBranches) {
    Repository repository(1);
    const std::string reference = repository.vfs.files["repo/refs/branch.main/ref.json"];
    for (const char *name : {"k", "b", "q", "a", "z", "c", "f", "y", "d"})
        repository.vfs.files[std::string("repo/refs/branch.") + name + "/ref.json"] = reference;
    refs_icechunk_version version = {};
    version.branch = "trunk";
    EXPECT_EQ(repository.Open(version),
              "invalid: the repository has no branch \"trunk\"; there are: "
              "a, b, c, d, dev, f, k, main, ...");
}

TEST(IcechunkFormat2, KnowsTheContainersOfItsConfiguration) {
    Repository repository(2);
    refs_str prefix;
    ASSERT_EQ(repository.Open(), "");
    ASSERT_EQ(refs_icechunk_container(repository.opened, refs_str_from("other"), &prefix, nullptr),
              REFS_OK);
    EXPECT_TRUE(refs_str_is(prefix, "s3://other/"));
    ASSERT_EQ(refs_icechunk_container(repository.opened, refs_str_from("none"), &prefix, nullptr),
              REFS_OK);
    EXPECT_EQ(prefix.data, nullptr);
}

// -- bad input ------------------------------------------------------------------------------------

TEST_P(EachFormat, SaysWhichSnapshotIsNotThere) {
    ASSERT_EQ(repository.Open(), "");
    const std::string name = std::string("repo/snapshots/") + repository.Current();
    repository.vfs.files.erase(name);
    EXPECT_EQ(repository.Open(), "invalid: " + name + ": no such file (it may have expired)");
}

TEST(IcechunkFormat2, OpensNoSnapshotThatExpired) {
    Repository repository(2);
    const char id[] = "ZZZZZZZZZZZZZZZZZZZ0";
    ASSERT_EQ(repository.Open(), "");
    repository.vfs.files[std::string("repo/snapshots/") + id] =
        repository.vfs.files[std::string("repo/snapshots/") + repository.Current()];
    refs_icechunk_version version = {}, named = {};
    version.snapshot = named.tag_or_snapshot = id;
    for (const refs_icechunk_version &each : {version, named})
        EXPECT_EQ(repository.Open(each), std::string("invalid: the repository has no snapshot ") +
                                             id + " (it may have expired)");
}

TEST_P(EachFormat, NeverTakesAMissingManifestForAbsentChunks) {
    for (const std::string &name : repository.Names("repo/manifests/"))
        repository.vfs.files.erase(name);
    ASSERT_EQ(repository.Open(), "");
    const std::string said = repository.Find("inline", {1});
    EXPECT_EQ(said.substr(0, 6), "cannot") << said;
    EXPECT_NE(said.find("(the snapshot refers to this manifest)"), std::string::npos) << said;
}

TEST_P(EachFormat, RefusesManifestsThatAreInEachOthersPlace) {
    const std::vector<std::string> names = repository.Names("repo/manifests/");
    for (size_t i = 1; i < names.size(); i++)
        repository.vfs.files[names[i]] = repository.vfs.files[names[0]];
    repository.vfs.files[names[0]] = repository.vfs.files[names[1]];
    ASSERT_EQ(repository.Open(), "");
    int n_refused = 0;
    for (uint64_t i = 0; i < 3; i++)
        if (repository.Find("g/split", {1, i}).find("its id is that of manifest") !=
            std::string::npos)
            n_refused++;
    EXPECT_GE(n_refused, 2);
}

// What a manifest says of another array is nothing about this one.
TEST_P(EachFormat, NeverTakesAManifestOfOtherArraysForAbsentChunks) {
    size_t n_said = 0;
    std::string hidden;
    for (const std::string &name : repository.Names("repo/manifests/")) {
        std::string &file = repository.vfs.files[name];
        file.swap(hidden);
        ASSERT_EQ(repository.Open(), "");
        const bool has_array = repository.Find("inline", {1}).substr(0, 6) != "inline";
        file.swap(hidden);
        if (!has_array) continue;
        const std::string content = repository.Unpacked(name, REFS_ICECHUNK_MANIFEST);
        const std::string whole = file, plain = whole.substr(0, 38) + '\0' + content;
        repository.Replace(whole.size(), plain.size());
        for (size_t at = 39; at < plain.size(); at += 7) {
            file = plain;
            file[at] = static_cast<char>(file[at] ^ 0x55);
            if (repository.Open() != "") continue;
            const std::string said = repository.Find("inline", {1});
            n_said +=
                said.find("the manifest lacks the references of this array") != std::string::npos;
        }
        file = whole;
    }
    EXPECT_GE(n_said, 1u) << "an id of a node has 8 bytes";
}

bool HasNode(const refs_icechunk *opened, std::string path) {
    const refs_icechunk_node_visitor visitor = {
        [](void *user, refs_str name, refs_bytes, refs_error *) {
            auto *wanted = static_cast<std::string *>(user);
            if (*wanted == std::string(name.data, name.size)) wanted->clear();
            return REFS_OK;
        },
        &path};
    return refs_icechunk_each_node(opened, &visitor, nullptr) == REFS_OK && path.empty();
}

// Snapshots are stored without compression, so that a flip is one of what they say.
TEST_P(EachFormat, ComparesManifestsWithWhatTheSnapshotSaysOfThem) {
    int n_said = 0;
    for (const std::string &name : repository.Names("repo/manifests/")) {
        Repository other(GetParam());
        const size_t size = other.vfs.files[name].size();
        ASSERT_GT(other.Replace(size, size + 1), 0);
        ASSERT_EQ(other.Open(), "");
        const std::string said = "it has " + std::to_string(size) + " bytes: expected " +
                                 std::to_string(size + 1) + ", as in the snapshot";
        for (uint64_t i = 0; i < 3; i++)
            for (const char *array : {"g/split", "inline", "virtual", "native"})
                for (const std::vector<uint64_t> &index :
                     {std::vector<uint64_t>{i}, std::vector<uint64_t>{1, i}})
                    n_said += other.Find(array, index).find(said) != std::string::npos;
    }
    EXPECT_GT(n_said, 3) << "some are of other branches";
}

// Whichever bit of a snapshot or a manifest is wrong, no chunk that is there is absent, and no
// array has another shape. Elements of JSON, locations and values stand in one place alone.
TEST_P(EachFormat, NeverTakesChunksForAbsentWhicheverBitIsWrong) {
    ASSERT_EQ(repository.Open(), "");
    const std::string kind[] = {"snapshots", "manifests"};
    size_t at_first = 0;
    for (const std::string &folder : kind) {
        for (const std::string &name : repository.Names("repo/" + folder + "/")) {
            Repository other(GetParam());
            const bool is_manifest = folder == "manifests";
            const std::string content =
                other.Unpacked(name, is_manifest ? REFS_ICECHUNK_MANIFEST : REFS_ICECHUNK_SNAPSHOT);
            if (is_manifest)
                other.Replace(other.vfs.files[name].size(), content.size() + REFS_ICECHUNK_HEADER);
            for (size_t at = at_first++ % 13; at < content.size(); at += 13) {
                std::string wrong = content;
                wrong[at] = static_cast<char>(wrong[at] ^ (1 << at % 8));
                other.Store(name, wrong);
                if (other.Open() != "" || !HasNode(other.opened, "/g/split")) continue;
                for (uint64_t i = 0; i < 3; i++)
                    EXPECT_NE(other.Find("g/split", {1, i}), "absent") << name << " byte " << at;
            }
        }
    }
}

TEST_P(EachFormat, RefusesASnapshotInAnothersPlace) {
    const std::vector<std::string> names = repository.Names("repo/snapshots/");
    for (const std::string &name : names)
        repository.vfs.files[name] = repository.vfs.files["repo/snapshots/1CECHNKREP0F1RSTCMT0"];
    EXPECT_NE(repository.Open().find("its id is that of snapshot 1CECHNKREP0F1RSTCMT0"),
              std::string::npos);
}

TEST_P(EachFormat, RefusesOtherVersionsTypesAndCompressions) {
    ASSERT_EQ(repository.Open(), "");
    const std::string name = std::string("repo/snapshots/") + repository.Current();
    std::string &file = repository.vfs.files[name];
    const std::string whole = file;
    file[36] = 3;
    EXPECT_EQ(repository.Open(),
              "not supported: " + name + ": expected Icechunk format 1 or 2, found 3");
    file = whole;
    file[37] = 2;
    EXPECT_EQ(repository.Open(), "corrupt: " + name + ": its file type is 2: expected 1");
    file = whole;
    file[38] = 7;
    EXPECT_EQ(repository.Open(), "not supported: " + name + ": unknown compression 7");
    file = "PNG";
    EXPECT_EQ(
        repository.Open(),
        "corrupt: " + name +
            ": not a file of an Icechunk repository: expected its magic bytes at the beginning");
    file = "\x83\xa2id";
    EXPECT_NE(repository.Open().find(name + ": expected Icechunk format 1 or 2, found MessagePack"),
              std::string::npos);
}

TEST_P(EachFormat, HoldsFilesToTheirLimits) {
    repository.limits.max_unpacked_bytes = 100;
    EXPECT_EQ(repository.Open().substr(0, 5), "over ");
    repository.limits = REFS_ICECHUNK_LIMITS_INIT;
    repository.limits.max_manifests = 2;
    EXPECT_EQ(repository.Open().substr(0, 5), "over ");
    repository.limits = REFS_ICECHUNK_LIMITS_INIT;
    repository.limits.max_location_bytes = 8;
    ASSERT_EQ(repository.Open(), "");
    EXPECT_EQ(repository.Find("virtual", {5}).substr(0, 5), "over ");
}

TEST_P(EachFormat, AnswersOrRefusesWhicheverByteOfItsFilesIsWrong) {
    for (const auto &[name, content] : std::map<std::string, std::string>(repository.vfs.files)) {
        if (name.find("/chunks/") != std::string::npos) continue;
        const size_t step = content.size() / 100 + 1;
        for (size_t at = 0; at < content.size(); at += step) {
            repository.vfs.files[name][at] = static_cast<char>(content[at] ^ 0x55);
            if (repository.Open().empty())
                for (const char *path : {"inline", "virtual", "g/split"})
                    for (uint64_t i = 0; i < 3; i++)
                        (void)(path[0] == 'g' ? repository.Find(path, {1, i})
                                              : repository.Find(path, {i}));
            repository.vfs.files[name] = content;
        }
    }
}

} // namespace
