/* options_test.cc -- options that say what they may not. */
#include "cpl_string.h"
#include "driver_test.h"

using namespace refs_test;

namespace {

struct Wrong {
    const char *name, *value, *accepted;
};

const char yesNo[] = "YES or NO";

const Wrong wrongs[] = {
    {"REFS_CACHE_MAX", "abc", "a number from 0 to 1048576"},
    {"REFS_CACHE_MAX", "512MB", "a number from 0 to 1048576"},
    {"REFS_CACHE_MAX", "-1", "a number from 0 to 1048576"},
    {"REFS_CACHE_MAX", "nan", "a number from 0 to 1048576"},
    {"REFS_KEEP_MAX", "", "a number from 0 to 1048576"},
    {"REFS_TRUST_SECONDS", "x", "a number from 0 to 86400"},
    {"REFS_LONGITUDES", "180", "AS_IS, -180 or 0"},
    {"REFS_LONGITUDES", "or", "AS_IS, -180 or 0"},
    {"REFS_READ_AHEAD", "MAYBE", yesNo},
    {"REFS_CHANGED", "MAYBE", "ERROR, WARN or IGNORE"},
    {"REFS_MISSING", "NO", "ERROR, FILL or WARN"},
    {"REFS_COORDINATES", "NO", "REQUIRED or OPTIONAL"},
    {"REFS_SIDECAR", "x", yesNo},
    {"REFS_MAX_REFERENCES", "1.5", "a whole number from 0 to 9007199254740992"},
    {"REFS_MAX_TEMPLATE_DEPTH", "33", "a whole number from 0 to 32"},
    {"REFS_HTTP_ENGINE", "WGET", "AUTO, CURL or VSI"},
    {"REFS_HTTP_MAX_REQUESTS", "0", "a number from 1 to 1024"},
    {"REFS_HTTP_STALL", "1h", "a number from 0 to 86400"},
    {"GDAL_NUM_THREADS", "some", "ALL_CPUS or a number from 0 to 2147483647"},
    {"GDAL_HTTP_MAX_RETRY", "often", "a number from 0 to 1000"},
    {"GDAL_HTTP_RETRY_DELAY", "1 s", "a number from 0 to 3600"},
    {"GDAL_HTTP_RETRY_CODES", "429,twice", "ALL or a list of numbers from 100 to 599"},
    {"CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT", "SOMETIMES",
     "IF_SAME_HOST, YES or NO"},
    {"AWS_NO_SIGN_REQUEST", "Y", yesNo},
    {"GS_NO_SIGN_REQUEST", "Y", yesNo},
    {"AZURE_NO_SIGN_REQUEST", "Y", yesNo},
    {"GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "perhaps", yesNo},
};

const std::pair<const char *, const char *> rights[] = {
    {"REFS_CACHE_MAX", "0.5"},
    {"REFS_CACHE_MAX", " 64 "},
    {"REFS_LONGITUDES", "as_is"},
    {"REFS_READ_AHEAD", "off"},
    {"REFS_READ_AHEAD", "1"},
    {"REFS_HTTP_ENGINE", "curl"},
    {"GDAL_NUM_THREADS", "all_cpus"},
    {"GDAL_NUM_THREADS", "3"},
    {"GDAL_HTTP_RETRY_CODES", "ALL"},
    {"GDAL_HTTP_RETRY_CODES", "429, 503"},
    {"CPL_VSIL_CURL_AUTHORIZATION_HEADER_ALLOWED_IF_REDIRECT", "if_same_host"},
    {"GDAL_ALLOW_REMOTE_RESOURCE_TO_ACCESS_LOCAL_FILE", "TRUE"},
};

Dataset open_sample(const std::vector<std::string> &options = {}) {
    return open(subdataset(sample("sample.json"), "t2m"), options);
}

TEST(Options, ThatAreWrongAreSaidOnceWithWhatIsAccepted) {
    for (const Wrong &wrong : wrongs) {
        const Option option(wrong.name, wrong.value);
        const std::string shown = wrong.name + std::string("=") + wrong.value;
        ErrorLog log;
        EXPECT_NE(open_sample(), nullptr) << shown;
        EXPECT_NE(open_sample(), nullptr) << shown;
        EXPECT_EQ(log.text(), "") << shown;
        ASSERT_EQ(log.warnings().size(), 1u) << shown;
        EXPECT_EQ(log.warnings()[0].find("invalid value ignored: " + shown), 0u)
            << log.warnings()[0];
        EXPECT_NE(log.warnings()[0].find(wrong.accepted), std::string::npos) << log.warnings()[0];
    }
}

TEST(Options, ThatAreRightAreNoMatter) {
    for (const auto &[name, value] : rights) {
        const Option option(name, value);
        ErrorLog log;
        EXPECT_NE(open_sample(), nullptr) << name << "=" << value;
        EXPECT_TRUE(log.warnings().empty()) << log.warnings()[0];
    }
}

TEST(Options, ThatAreWrongCountAsNotSet) {
    const Option wrong("REFS_CACHE_MAX", "much");
    ErrorLog log;
    const Dataset dataset = open_sample();
    ASSERT_NE(dataset, nullptr);
    for (int i = 0; i < 2; i++) pixels(dataset);
    EXPECT_GT(count(dataset, "CACHE_HITS"), 0) << "a cache of the default size";
}

/** Open options that are not in GDAL's list, as right as they may be. */
const char *const unlisted[] = {"CHANGED=WARN",
                                "FILEHANDLES=10",
                                "HONOUR_VALID_RANGE=NO",
                                "MEMORY=1GB",
                                "PATTERN=t_{time:%Y}.nc",
                                "S3NC_CONFIG=NONE",
                                "SIDECAR=NO",
                                "TARGET=x",
                                "TEMPLATES=u=x",
                                "SET=0",
                                "MAX_REFERENCES=1000",
                                "MAX_GENERATED=1000",
                                "MAX_TEMPLATE_DEPTH=2",
                                "MAX_RENDERED_BYTES=1000",
                                "MAX_INLINE_BYTES=10000",
                                "max_unpacked_bytes=10000"};

/** The same, of repositories alone. */
const char *const ofRepositories[] = {"AS_OF=2024-01-01", "BRANCH=main", "SNAPSHOT=x", "TAG=x"};

TEST(Options, OfOpeningThatAreNotListedAreAccepted) {
    for (const char *option : unlisted) {
        ErrorLog log;
        EXPECT_NE(open_sample({option}), nullptr) << option << ": " << log.text();
        EXPECT_TRUE(log.warnings().empty()) << option << ": " << log.warnings()[0];
    }
    for (const char *option : ofRepositories) {
        ErrorLog log;
        EXPECT_EQ(open_sample({option}), nullptr) << option;
        EXPECT_NE(log.text().find("only Icechunk repositories"), std::string::npos) << log.text();
        EXPECT_TRUE(log.warnings().empty()) << option << ": " << log.warnings()[0];
    }
}

TEST(Options, OfTheConfigurationAreThoseOfOpening) {
    for (const auto &[name, value] :
         {std::pair{"REFS_MAX_REFERENCES", "2"}, {"REFS_MAX_INLINE_BYTES", "5"}}) {
        const Option option(name, value);
        ErrorLog log;
        EXPECT_EQ(open_sample(), nullptr) << name;
        EXPECT_NE(log.text(), "") << name;
        EXPECT_NE(open_sample({std::string(name + 5) + "=1000000"}), nullptr) << "the call wins";
    }
    const Option branch("REFS_BRANCH", "main"); // of repositories alone, which name it
    EXPECT_NE(open_sample(), nullptr);
    const Option all("REFS_LIST_ALL_ARRAYS", "YES");
    const Dataset dataset = open("REFS:" + sample("sample.json"));
    ASSERT_NE(dataset, nullptr);
    EXPECT_GT(CSLCount(GDALGetMetadata(dataset.get(), "SUBDATASETS")), 4);
    EXPECT_EQ(std::string(GDALGetDescription(dataset.get())).find('?'), std::string::npos);
}

TEST(Options, OfOpeningAreSaidByGdalOrRefused) {
    for (const char *option :
         {"ASSUME_LONGLAT=MAYBE", "COORDINATES=SOME", "CHANGED=SOME", "SIDECAR=SOME"}) {
        ErrorLog log;
        EXPECT_NE(open_sample({option}), nullptr);
        ASSERT_EQ(log.warnings().size(), 1u) << option;
    }
    for (const char *option : {"SET=x", "SET=-3", "SET=1.5", "SET=", "MAX_REFERENCES=many"}) {
        ErrorLog log;
        EXPECT_EQ(open_sample({option}), nullptr) << option;
        EXPECT_NE(log.text().find(option + std::string(": expected an integer")), std::string::npos)
            << log.text();
    }
}

} // namespace
