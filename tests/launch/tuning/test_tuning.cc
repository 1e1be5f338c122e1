#include "support/environment.h"
#include "support/random.h"
#include "support/scale.h"

#include <polytile/polytile.h>
#include <polytile/tuning.h>

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <thread>

extern "C" {
#include "launch/tuning/tuning.h"
}

namespace {

namespace fs = std::filesystem;

/** A context with a home and a cache of its own. */
class Tuning : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/polytile-tuning-XXXXXX";
        home = mkdtemp(name);
        environment.set("HOME", home.c_str());
        environment.set("XDG_CACHE_HOME", nullptr);
        environment.set("POLYTILE_CACHE", (home / "cache").c_str());
        environment.set("POLYTILE_TUNING", nullptr);
        open_context();
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        fs::remove_all(home);
    }

    void open_context() {
        polytile_context_destroy(ctx);
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    }

    fs::path put(const std::string &name, const std::string &text) const {
        fs::create_directories((home / name).parent_path());
        std::ofstream(home / name) << text;
        return home / name;
    }

    /** A table with one row, for kernels of any character. */
    static std::string table(const std::string &threads, const std::string &members = "") {
        return "{ \"version\": 1,\n\"architectures\": {\"one\": [\"9.0\"]},\n\"rows\": [\n"
               "{\"architecture\": \"one\", \"block\": [" +
               threads + "]" + members + "}] }";
    }

    polytile_status load(const fs::path &path) { return polytile_tuning_load(ctx, path.c_str()); }
    std::string error() const { return polytile_last_error(ctx); }

    pti_tuning *tuning() {
        pti_tuning *found = nullptr;
        EXPECT_EQ(pti_tuning_get(ctx, &found), POLYTILE_OK) << error();
        return found;
    }

    /** The block's last number for a kernel, 0: none. */
    int64_t block_for(const char *kernel, int capability = 90) {
        const pti_tuning_query query = {kernel, {}, capability, 1};
        pti_tuning_row row;
        return pti_tuning_find(tuning(), &query, &row) ? row.block[row.n_dims - 1] : 0;
    }

    void learn(const char *kernel, int64_t threads, int capability = 90) {
        pti_tuning_row row = {};
        snprintf(row.kernel, sizeof row.kernel, "%s", kernel);
        row.n_dims = 1;
        row.block[0] = threads;
        pti_tuning_learn(tuning(), &row, capability);
    }

    template <typename Call> static std::string warnings(Call call) {
        testing::internal::CaptureStderr();
        call();
        return testing::internal::GetCapturedStderr();
    }

    Environment environment;
    fs::path home;
    polytile_context *ctx = nullptr;
};

TEST_F(Tuning, HasTheLibrarysTableFromTheStart) {
    EXPECT_EQ(block_for("any", 90), 0);
    EXPECT_EQ(block_for("any", 35), 256);
    EXPECT_FALSE(fs::exists(home / "cache")) << "asking makes nothing";
}

TEST_F(Tuning, AsksTheTableThatWasLoadedLastFirst) {
    ASSERT_EQ(load(put("a.json", table("64"))), POLYTILE_OK) << error();
    EXPECT_EQ(block_for("any"), 64);
    ASSERT_EQ(load(put("b.json", table("128", ", \"kernel\": \"add\""))), POLYTILE_OK);
    EXPECT_EQ(block_for("add"), 128);
    EXPECT_EQ(block_for("any"), 64);
    EXPECT_EQ(block_for("any", 35), 256);
}

TEST_F(Tuning, KeepsItsTablesAfterAnError) {
    ASSERT_EQ(load(put("a.json", table("64"))), POLYTILE_OK);
    const int64_t generation = pti_tuning_generation(tuning());
    EXPECT_EQ(load(put("b.json", table("0"))), POLYTILE_INVALID);
    EXPECT_NE(error().find("b.json:4: a number of \"block\" is 0"), std::string::npos) << error();
    EXPECT_EQ(block_for("any"), 64);
    EXPECT_EQ(pti_tuning_generation(tuning()), generation);
}

TEST_F(Tuning, SaysWhyAFileCannotBeRead) {
    EXPECT_EQ(load(home / "absent.json"), POLYTILE_IO);
    EXPECT_NE(error().find("absent.json"), std::string::npos) << error();
    EXPECT_NE(error().find("No such file"), std::string::npos) << error();
    EXPECT_EQ(load(home), POLYTILE_IO);
    EXPECT_NE(error().find("Is a directory"), std::string::npos) << error();
    EXPECT_EQ(load(put("long.json", std::string(PTI_TUNING_MAX_BYTES + 1, ' '))), POLYTILE_INVALID);
    EXPECT_NE(error().find("more than 1048576 bytes"), std::string::npos) << error();
    EXPECT_EQ(load(put("full.json", std::string(PTI_TUNING_MAX_BYTES, ' '))), POLYTILE_INVALID);
    ASSERT_EQ(mkfifo((home / "pipe").c_str(), 0600), 0);
    EXPECT_NE(load(home / "pipe"), POLYTILE_OK) << "does not wait for a writer";
    EXPECT_EQ(polytile_tuning_load(ctx, nullptr), POLYTILE_INVALID);
    EXPECT_EQ(polytile_tuning_load(nullptr, "x"), POLYTILE_INVALID);
}

TEST_F(Tuning, LoadsTheTableOfTheEnvironment) {
    environment.set("POLYTILE_TUNING", put("mine.json", table("96")).c_str());
    open_context();
    EXPECT_EQ(block_for("any"), 96);
}

TEST_F(Tuning, TellsOfAWrongTableOfTheEnvironmentUntilItIsRight) {
    environment.set("POLYTILE_TUNING", put("mine.json", "{\n\n?").c_str());
    open_context();
    pti_tuning *found;
    for (int k = 0; k < 2; k++) {
        EXPECT_EQ(pti_tuning_get(ctx, &found), POLYTILE_INVALID);
        EXPECT_NE(error().find("mine.json:3: "), std::string::npos) << error();
    }
    EXPECT_EQ(load(put("good.json", table("64"))), POLYTILE_INVALID);
    EXPECT_NE(error().find("mine.json:3: "), std::string::npos) << error();
    put("mine.json", table("96"));
    EXPECT_EQ(block_for("any"), 96);
}

TEST_F(Tuning, KeepsWhatIsLearnedForLaterProcesses) {
    learn("add", 512);
    learn("mul", 64);
    learn("add", 128);
    learn("add", 32, 80);
    for (int k = 0; k < 2; k++) {
        EXPECT_EQ(block_for("add"), 128);
        EXPECT_EQ(block_for("mul"), 64);
        EXPECT_EQ(block_for("add", 80), 32);
        EXPECT_EQ(block_for("div"), 0);
        open_context();
    }
    ASSERT_EQ(load(home / "cache/tuning.json"), POLYTILE_OK) << error();
}

TEST_F(Tuning, KeepsWhatAnotherProcessLearnedMeanwhile) {
    polytile_context *other;
    ASSERT_EQ(polytile_context_create(&other), POLYTILE_OK);
    EXPECT_EQ(block_for("add"), 0);
    std::swap(ctx, other);
    learn("add", 512);
    std::swap(ctx, other);
    learn("mul", 64);
    polytile_context_destroy(other);
    open_context();
    EXPECT_EQ(block_for("add"), 512);
    EXPECT_EQ(block_for("mul"), 64);
}

TEST_F(Tuning, KeepsRowsThatWereWrittenByHand) {
    put("cache/tuning.json", table("96", ", \"kernel\": \"mine\", \"source\": \"me\""));
    learn("add", 512);
    open_context();
    EXPECT_EQ(block_for("mine"), 96);
    EXPECT_EQ(block_for("add"), 512);
    std::ostringstream text;
    text << std::ifstream(home / "cache/tuning.json").rdbuf();
    EXPECT_NE(text.str().find("\"me\""), std::string::npos);
}

TEST_F(Tuning, GoesOnWithoutACacheThatIsDamaged) {
    put("cache/tuning.json", "{ \"version\": 1,\n\"rows\": 3 }");
    open_context();
    const std::string warning = warnings([this] { EXPECT_EQ(block_for("add"), 0); });
    EXPECT_NE(warning.find("tuning.json:1: "), std::string::npos) << warning;
    warnings([this] { learn("add", 512); });
    open_context();
    EXPECT_EQ(warnings([this] { EXPECT_EQ(block_for("add"), 512); }), "");
}

TEST_F(Tuning, LearnsForItselfWithoutACache) {
    environment.set("POLYTILE_CACHE", "off");
    open_context();
    learn("add", 512);
    learn("mul", 64);
    EXPECT_EQ(block_for("add"), 512);
    EXPECT_EQ(block_for("mul"), 64);
    EXPECT_FALSE(fs::exists(home / "cache"));
    EXPECT_TRUE(fs::is_empty(home)) << "nothing is written anywhere";
}

TEST_F(Tuning, SaysThatTheCacheCannotBeWritten) {
    put("file", "");
    environment.set("POLYTILE_CACHE", (home / "file/cache").c_str());
    open_context();
    const std::string warning = warnings([this] { learn("add", 512); });
    EXPECT_NE(warning.find("file/cache/tuning.json cannot be written"), std::string::npos)
        << warning;
    EXPECT_EQ(block_for("add"), 512);
}

TEST_F(Tuning, UsesTheOldTableOrAValidOneWhateverTheFile) {
    Random random(test_seed("Tuning.UsesTheOldTableOrAValidOneWhateverTheFile"));
    const std::string valid = table("64", ", \"cache\": \"l1\", \"kernel\": \"add\"");
    for (int64_t round = 0; round < scaled(300); round++) {
        std::string text = valid;
        const int64_t last = static_cast<int64_t>(text.size()) - 1;
        text[static_cast<size_t>(random.number(0, last))] =
            static_cast<char>(random.number(0, 255));
        text.resize(static_cast<size_t>(random.number(1, random.one_of({last, last + 1}))));
        const int64_t before = block_for("add"), generation = pti_tuning_generation(tuning());
        const polytile_status status = load(put("some.json", text));
        if (status == POLYTILE_OK) {
            EXPECT_EQ(pti_tuning_generation(tuning()), generation + 1);
        } else {
            EXPECT_EQ(status, POLYTILE_INVALID);
            EXPECT_NE(error().find("some.json:"), std::string::npos) << error();
            EXPECT_EQ(block_for("add"), before);
            EXPECT_EQ(pti_tuning_generation(tuning()), generation);
        }
    }
}

TEST_F(Tuning, IsAskedByThreadsOfOneContextAtOnce) {
    const fs::path path = put("a.json", table("64"));
    std::thread asker([this] {
        for (int k = 0; k < 1000; k++)
            EXPECT_TRUE(block_for("any") == 0 || block_for("any") == 64);
    });
    for (int k = 0; k < 50; k++)
        EXPECT_EQ(load(path), POLYTILE_OK);
    asker.join();
}

} // namespace
