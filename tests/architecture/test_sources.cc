#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

/* How sources are written where clang-format leaves them as they are: comments, and names. */

namespace {

namespace fs = std::filesystem;

constexpr int64_t most_columns = 100; /* ColumnLimit of .clang-format */

/** Files with one of these extensions below a folder of the project. */
std::vector<fs::path> files_below(const std::string &folder, const std::set<std::string> &kinds) {
    std::vector<fs::path> files;
    for (const auto &entry : fs::recursive_directory_iterator(in_source(folder)))
        if (kinds.count(entry.path().extension().string()) > 0)
            files.push_back(entry.path());
    return files;
}

/** Bytes that continue a character of UTF-8 take no column. */
int64_t columns_of(const std::string &line) {
    return std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

TEST(Sources, HaveNoLineOfMoreThanAHundredColumns) {
    int64_t n_lines = 0;
    for (const char *folder : {"src", "include", "tools", "examples", "bench", "tests", "python"}) {
        for (const fs::path &file : files_below(folder, {".c", ".h", ".cc", ".cu", ".py"})) {
            std::ifstream text(file);
            int64_t number = 0;
            for (std::string line; std::getline(text, line); n_lines++) {
                number++;
                EXPECT_LE(columns_of(line), most_columns) << file << ":" << number;
            }
        }
    }
    EXPECT_GT(n_lines, 100000);
}

/** The name of the static function that a line begins; empty: it begins none. */
std::string static_function_of(const std::string &line) {
    const size_t end = line.find('(');
    if (line.rfind("static ", 0) != 0 || end == std::string::npos || line.find('=') < end)
        return "";
    return line.substr(line.find_last_of(" *", end) + 1, end - line.find_last_of(" *", end) - 1);
}

/** A name of one word, such as `take`, is found everywhere and says nothing of what it takes. */
TEST(Sources, HaveNoStaticFunctionOfOneWord) {
    int64_t n_functions = 0;
    for (const fs::path &file : files_below("src", {".c"})) {
        std::ifstream text(file);
        for (std::string line; std::getline(text, line);) {
            const std::string name = static_function_of(line);
            n_functions += !name.empty();
            EXPECT_TRUE(name.empty() || name.find('_') != std::string::npos)
                << file << ": " << name;
        }
    }
    EXPECT_GT(n_functions, 3000);
}

/** Who searches a folder for a name finds one meaning of it. */
TEST(Sources, HaveNoTwoStaticFunctionsOfOneNameInAFolder) {
    std::map<std::string, fs::path> found;
    for (const fs::path &file : files_below("src", {".c"})) {
        std::ifstream text(file);
        for (std::string line; std::getline(text, line);) {
            const std::string name = static_function_of(line);
            if (name.empty())
                continue;
            const auto former = found.emplace(file.parent_path() / name, file).first;
            EXPECT_EQ(former->second, file) << name;
        }
    }
    EXPECT_GT(found.size(), 3000u);
}

} // namespace
