#include "support/environment.h"

#include <polytile/polytile.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "launch/device/link_cache.h"
}

namespace {

namespace fs = std::filesystem;

const polytile_link measured = {55.4e9, 54.3e9, 50.8e9, 2.6e-6, 1024, 2.5e-6,
                                4.1e12, 1e14,   0,      0,      {}};

/** A home of its own for each test, so that nobody's real cache is read or written. */
class LinkCache : public testing::Test {
  protected:
    void SetUp() override {
        char name[] = "/tmp/polytile-links-XXXXXX";
        home = mkdtemp(name);
        environment.set("HOME", home.c_str());
        environment.set("XDG_CACHE_HOME", nullptr);
        open_context((home / "cache").c_str());
    }
    void TearDown() override {
        polytile_context_destroy(ctx);
        fs::remove_all(home);
    }

    void open_context(const char *cache) {
        polytile_context_destroy(ctx);
        environment.set("POLYTILE_CACHE", cache);
        ASSERT_EQ(polytile_context_create(&ctx), POLYTILE_OK);
    }

    fs::path file() const { return home / "cache/links/GPU-1.json"; }

    void put(const std::string &text) {
        fs::create_directories(file().parent_path());
        std::ofstream(file()) << text;
    }

    /** The messages of a call. */
    template <typename Call> static std::string warnings(Call call) {
        testing::internal::CaptureStderr();
        call();
        return testing::internal::GetCapturedStderr();
    }

    std::string write() {
        return warnings([this] { pti_link_cache_write(ctx, "GPU-1", &measured); });
    }
    std::string read() {
        return warnings([this] { is_found = pti_link_cache_read(ctx, "GPU-1", &link); });
    }

    static std::string text_of(const fs::path &path) {
        std::ostringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    Environment environment;
    fs::path home;
    polytile_context *ctx = nullptr;
    polytile_link link = {};
    bool is_found = false;
};

void expect_equal(const polytile_link &one, const polytile_link &other) {
    EXPECT_EQ(one.upload_bytes_per_s, other.upload_bytes_per_s);
    EXPECT_EQ(one.download_bytes_per_s, other.download_bytes_per_s);
    EXPECT_EQ(one.duplex_bytes_per_s, other.duplex_bytes_per_s);
    EXPECT_EQ(one.transfer_latency_s, other.transfer_latency_s);
    EXPECT_EQ(one.run_overhead_bytes, other.run_overhead_bytes);
    EXPECT_EQ(one.launch_latency_s, other.launch_latency_s);
    EXPECT_EQ(one.kernel_bytes_per_s, other.kernel_bytes_per_s);
    EXPECT_EQ(one.kernel_accesses_per_s, other.kernel_accesses_per_s);
}

TEST_F(LinkCache, HasNothingAtFirstAndSaysNothing) {
    EXPECT_EQ(read(), "");
    EXPECT_FALSE(is_found);
    EXPECT_FALSE(fs::exists(home / "cache")) << "reading makes nothing";
}

TEST_F(LinkCache, GivesBackExactlyWhatWasKept) {
    EXPECT_EQ(write(), "");
    EXPECT_EQ(read(), "");
    EXPECT_TRUE(is_found);
    expect_equal(link, measured);
    EXPECT_FALSE(pti_link_cache_read(ctx, "GPU-2", &link)) << "each device has a file of its own";
}

TEST_F(LinkCache, NamesTheVersionsThatWroteIt) {
    write();
    const std::string text = text_of(file());
    EXPECT_NE(text.find("\"version\": 1"), std::string::npos) << text;
    EXPECT_NE(text.find(std::string("\"polytile\": \"") + polytile_version() + "\""),
              std::string::npos)
        << text;
}

TEST_F(LinkCache, LeavesOneFileInDirectoriesOfTheUsersOwn) {
    write();
    write();
    EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), {}), 1);
    for (const fs::path &directory : {home / "cache", home / "cache/links"}) {
        struct stat status;
        ASSERT_EQ(stat(directory.c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 0777, 0700u) << directory;
    }
}

TEST_F(LinkCache, GoesWhereTheEnvironmentSays) {
    const struct {
        const char *cache, *xdg, *home;
        const char *file; /* below the test's directory; empty: nothing is kept */
    } rows[] = {
        {"own", "xdg", "user", "own/links/GPU-1.json"},
        {nullptr, "xdg", "user", "xdg/polytile/links/GPU-1.json"},
        {"", "xdg", "user", "xdg/polytile/links/GPU-1.json"},
        {nullptr, nullptr, "user", "user/.cache/polytile/links/GPU-1.json"},
        {nullptr, "", "user", "user/.cache/polytile/links/GPU-1.json"},
        {nullptr, nullptr, nullptr, ""},
        {"off", "xdg", "user", ""},
    };
    for (const auto &row : rows) {
        const fs::path root = home / "row";
        const auto below = [&root](const char *name) {
            return name == nullptr || *name == '\0' || std::string(name) == "off"
                       ? std::string(name == nullptr ? "" : name)
                       : (root / name).string();
        };
        const std::string cache = below(row.cache), xdg = below(row.xdg), user = below(row.home);
        environment.set("XDG_CACHE_HOME", row.xdg == nullptr ? nullptr : xdg.c_str());
        environment.set("HOME", row.home == nullptr ? nullptr : user.c_str());
        open_context(row.cache == nullptr ? nullptr : cache.c_str());
        EXPECT_EQ(write(), "");
        EXPECT_EQ(read(), "");
        EXPECT_EQ(is_found, *row.file != '\0') << row.file;
        EXPECT_EQ(fs::exists(root), *row.file != '\0') << row.file;
        EXPECT_TRUE(*row.file == '\0' || fs::exists(root / row.file)) << row.file;
        fs::remove_all(root);
    }
}

TEST_F(LinkCache, IgnoresRelativeDirectoriesOfXdg) {
    environment.set("XDG_CACHE_HOME", "not/absolute");
    open_context(nullptr);
    EXPECT_EQ(write(), "");
    EXPECT_TRUE(fs::exists(home / ".cache/polytile/links/GPU-1.json"));
    EXPECT_FALSE(fs::exists("not/absolute"));
}

/** A good file in which one thing is replaced by another. */
std::string changed(std::string text, const std::string &from, const std::string &to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

const char good_file[] = R"({"version": 1, "polytile": "0.1.0", "link": {
  "upload_bytes_per_s": 5e10, "download_bytes_per_s": 5e10, "duplex_bytes_per_s": 4e10,
  "transfer_latency_s": 2e-6, "run_overhead_bytes": 1024, "launch_latency_s": 3e-6,
  "kernel_bytes_per_s": 4e12, "kernel_accesses_per_s": 1e14}})";

TEST_F(LinkCache, ReadsFilesThatAPersonWrote) {
    put(good_file);
    EXPECT_EQ(read(), "");
    EXPECT_TRUE(is_found);
    EXPECT_EQ(link.run_overhead_bytes, 1024);
}

TEST_F(LinkCache, IgnoresAndReplacesWhatIsWrong) {
    const struct {
        std::string text, why;
    } rows[] = {
        {"", "it is not JSON from line 1 on"},
        {"not json", "it is not JSON from line 1 on"},
        {std::string(good_file).substr(0, 100), "it is not JSON"},
        {std::string(good_file) + "}", "it is not JSON"},
        {std::string(4, '\0'), "it is not JSON"},
        {std::string(10000, '['), "it is not JSON"},
        {"[]", "its format is not version 1"},
        {"{}", "its format is not version 1"},
        {changed(good_file, "\"version\": 1", "\"version\": 2"), "its format is not version 1"},
        {changed(good_file, "\"version\": 1", "\"version\": \"1\""), "its format is not version 1"},
        {changed(good_file, "\"version\": 1", "\"version\": 1e99"), "its format is not version 1"},
        {"{\"version\": 1}", "upload_bytes_per_s is not a number"},
        {"{\"version\": 1, \"link\": 3}", "upload_bytes_per_s is not a number"},
        {changed(good_file, "2e-6", "\"fast\""), "transfer_latency_s is not a number"},
        {changed(good_file, "2e-6", "null"), "transfer_latency_s is not a number"},
        {changed(good_file, "\"launch_latency_s\"", "\"launch\""),
         "launch_latency_s is not a number"},
        {changed(good_file, "2e-6", "-2e-6"), "transfer_latency_s cannot be true"},
        {changed(good_file, "2e-6", "0"), "transfer_latency_s cannot be true"},
        {changed(good_file, "5e10", "0"), "upload_bytes_per_s cannot be true"},
        {changed(good_file, "4e10", "1e300"), "duplex_bytes_per_s cannot be true"},
        {changed(good_file, "4e10", "1e999"), "it is not JSON"},
        {changed(good_file, "4e10", "NaN"), "it is not JSON"},
        {changed(good_file, "4e10", "99999999999999999999999"), "it is not JSON"},
        {changed(good_file, "1024", "-1"), "run_overhead_bytes cannot be true"},
        {changed(good_file, "{", "{\"version\": 1, "), "it is not JSON"},
        {good_file + std::string(20000, ' '), "it has more than 16384 bytes"},
    };
    for (const auto &row : rows) {
        put(row.text);
        link = measured;
        const std::string says = read();
        EXPECT_FALSE(is_found) << row.text;
        expect_equal(link, measured);
        EXPECT_NE(says.find(file().string() + " is ignored, since " + row.why), std::string::npos)
            << says;
        EXPECT_EQ(std::count(says.begin(), says.end(), '\n'), 1) << says;
        EXPECT_EQ(write(), "");
        EXPECT_EQ(read(), "");
        EXPECT_TRUE(is_found) << "replaced";
    }
}

TEST_F(LinkCache, IgnoresWhatCannotBeReadAsAFile) {
    fs::create_directories(file());
    EXPECT_NE(read().find("Is a directory"), std::string::npos);
    EXPECT_FALSE(is_found);
    EXPECT_NE(write().find("cannot be written (Is a directory)"), std::string::npos);
    EXPECT_EQ(std::distance(fs::directory_iterator(file().parent_path()), {}), 1)
        << "no temporary file is left";
    fs::remove(file());
    ASSERT_EQ(mkfifo(file().c_str(), 0600), 0);
    EXPECT_NE(read().find("it is not JSON"), std::string::npos) << "and does not block";
    EXPECT_EQ(write(), "");
    EXPECT_EQ(read(), "");
    EXPECT_TRUE(is_found);
}

TEST_F(LinkCache, EndlessFilesEnd) {
    fs::create_directories(file().parent_path());
    fs::create_symlink("/dev/zero", file());
    EXPECT_NE(read().find("it has more than 16384 bytes"), std::string::npos);
    EXPECT_FALSE(is_found);
}

TEST_F(LinkCache, WhatCannotBeWrittenIsOneWarning) {
    for (const char *directory : {"/dev/null/cache", "/proc/cache"}) {
        open_context(directory);
        EXPECT_EQ(read(), "");
        EXPECT_FALSE(is_found);
        const std::string says = write();
        EXPECT_NE(says.find(std::string(directory) + "/links/GPU-1.json cannot be written ("),
                  std::string::npos)
            << says;
        EXPECT_NE(says.find("set POLYTILE_CACHE"), std::string::npos) << says;
        EXPECT_EQ(std::count(says.begin(), says.end(), '\n'), 1) << says;
    }
}

TEST_F(LinkCache, BelievesOnlyWhatAMachineCanHave) {
    EXPECT_EQ(pti_link_find_implausible(&measured), nullptr);
    EXPECT_EQ(pti_link_find_implausible(&polytile_link_default), nullptr);
    link = measured;
    link.kernel_bytes_per_s = INFINITY;
    EXPECT_STREQ(pti_link_find_implausible(&link), "kernel_bytes_per_s");
    link = measured;
    link.launch_latency_s = NAN;
    EXPECT_STREQ(pti_link_find_implausible(&link), "launch_latency_s");
    link = measured;
    link.run_overhead_bytes = 0;
    EXPECT_EQ(pti_link_find_implausible(&link), nullptr);
}

} // namespace
