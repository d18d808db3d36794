/* profile_test.cc -- keys of AWS, from files and variables. */
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include "temporary_folder.h"

extern "C" {
#include "aws_profile.h"
}

namespace {

struct Profile : refs_aws_profile {
    Profile() : refs_aws_profile{} {}
    ~Profile() { refs_aws_profile__clear(this); }
};

std::string shown(const char *text) {
    return text != nullptr ? text : "-";
}

/** Access key, secret key, token, region. */
std::string shown(const refs_aws_profile &profile) {
    return shown(profile.access_key) + " " + shown(profile.secret_key) + " " +
           shown(profile.session_token) + " " + shown(profile.region);
}

bool take(const std::string &text, const char *name, Profile &profile) {
    return refs_aws_profile__take(refs_str_view(text.data(), text.size()), name, &profile);
}

class ProfileOfFiles : public ::testing::Test {
  protected:
    TemporaryFolder folder;

    /** What is read with these settings, beside the files. */
    std::string read(std::vector<std::string> settings) {
        settings.push_back("AWS_SHARED_CREDENTIALS_FILE=" + folder.path + "/credentials");
        settings.push_back("AWS_CONFIG_FILE=" + folder.path + "/config");
        std::vector<const char *> items;
        for (const std::string &setting : settings) items.push_back(setting.c_str());
        items.push_back(nullptr);
        refs_settings copied = {};
        refs_error err = REFS_ERROR_INIT;
        Profile profile;
        EXPECT_EQ(refs_settings__copy(items.data(), &copied, &err), REFS_OK);
        refs_status status = refs_aws_profile__read(&copied, &profile, &err);
        EXPECT_EQ(status, REFS_OK);
        if (status == REFS_OK) status = refs_aws_profile__check_keys(&profile, &err);
        refs_settings__clear(&copied);
        return status == REFS_OK ? shown(profile) : err.message;
    }
};

} // namespace

TEST(Profile, IsASectionOfAFile) {
    const std::string text = "# keys\n[default]\naws_access_key_id = A\n"
                             "aws_secret_access_key=S ; mine\n[ other ]\r\n"
                             "aws_access_key_id =\tB\r\naws_secret_access_key = T=+/#x\n"
                             "aws_session_token = U\n[profile third]\nregion = eu-west-1 # far\n";
    Profile first, other, third, fourth;
    EXPECT_TRUE(take(text, "default", first));
    EXPECT_EQ(shown(first), "A S - -");
    EXPECT_TRUE(take(text, "other", other));
    EXPECT_EQ(shown(other), "B T=+/#x U -");
    EXPECT_TRUE(take(text, "third", third));
    EXPECT_EQ(shown(third), "- - - eu-west-1");
    EXPECT_FALSE(take(text, "fourth", fourth));
}

TEST(Profile, HasSettingsOfS3UnderAKey) {
    Profile profile;
    EXPECT_TRUE(
        take("[default]\ns3 =\n  addressing_style = path\n  region = nowhere\nregion = here\n"
             "endpoint_url = http://one\n",
             "default", profile));
    EXPECT_EQ(shown(profile.style), "path");
    EXPECT_EQ(shown(profile.region), "here");
    EXPECT_EQ(shown(profile.endpoint), "http://one");
}

TEST_F(ProfileOfFiles, GivesVariablesTheFirstWord) {
    folder.Write("credentials", "[default]\naws_access_key_id=A\naws_secret_access_key=S\n"
                                "aws_session_token=T\n");
    folder.Write("config", "[default]\nregion=eu-west-1\naws_access_key_id=C\n");
    EXPECT_EQ(read({}), "A S T eu-west-1");
    EXPECT_EQ(read({"AWS_REGION=us-west-2"}), "A S T us-west-2");
    EXPECT_EQ(read({"AWS_ACCESS_KEY_ID=V", "AWS_SECRET_ACCESS_KEY=W"}), "V W - eu-west-1");
}

TEST_F(ProfileOfFiles, TakesTheProfileThatIsNamed) {
    folder.Write("credentials", "[default]\naws_access_key_id=A\naws_secret_access_key=S\n"
                                "[other]\naws_access_key_id=B\naws_secret_access_key=T\n");
    EXPECT_EQ(read({"AWS_PROFILE=other"}), "B T - -");
    EXPECT_EQ(read({"AWS_PROFILE=none"}), "AWS credentials: no file has the profile \"none\"");
}

TEST_F(ProfileOfFiles, NeedsNeitherFile) {
    EXPECT_EQ(read({}), "- - - -");
}

TEST_F(ProfileOfFiles, MayHaveOneThatCannotBeReadWhereKeysAreKnown) {
    ASSERT_EQ(mkdir((folder.path + "/config").c_str(), 0700), 0);
    const std::string problem = "AWS credentials: " + folder.path + "/config: ";
    EXPECT_EQ(read({}).compare(0, problem.size(), problem), 0) << read({});
    EXPECT_NE(read({}).find(": make it readable, or set AWS_ACCESS_KEY_ID"), std::string::npos);
    EXPECT_EQ(read({"AWS_ACCESS_KEY_ID=V", "AWS_SECRET_ACCESS_KEY=W"}), "V W - -");
    EXPECT_EQ(read({"AWS_ACCESS_KEY_ID=V", "AWS_SECRET_ACCESS_KEY=W", "AWS_PROFILE=other"})
                  .compare(0, problem.size(), problem),
              0)
        << "it may have that profile";
    folder.Write("credentials", "[default]\naws_access_key_id=A\naws_secret_access_key=S\n");
    EXPECT_EQ(read({}), "A S - -");
}

TEST_F(ProfileOfFiles, SaysWhichWayToKeysIsNotKnown) {
    folder.Write("config", "[profile sso]\nsso_start_url = https://start.example\n");
    EXPECT_EQ(read({"AWS_PROFILE=sso"}),
              "AWS credentials: profile \"sso\" uses sso_start_url, which is not supported here: "
              "set the variables that `aws configure export-credentials --format env` prints");
}

TEST_F(ProfileOfFiles, IsRefusedWithHalfOfItsKeys) {
    folder.Write("credentials", "[default]\naws_access_key_id=A\n");
    EXPECT_EQ(
        read({}),
        "AWS credentials: expected both AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, found one");
}
