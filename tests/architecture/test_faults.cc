#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/* Every function of the public headers is called where calls of the C library and of MPI are let
 * fail, or docs/faults.md says which is not. */

namespace {

namespace fs = std::filesystem;

const fs::path root = in_source("");

std::string text_of(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/** Without comments of the form of C. */
std::string code_of(const fs::path &file) {
    std::string text = text_of(file);
    for (size_t at = text.find("/*"); at != std::string::npos; at = text.find("/*", at))
        text.erase(at, text.find("*/", at) + 2 - at);
    return text;
}

bool is_of_name(char c) {
    return isalnum(static_cast<unsigned char>(c)) || c == '_';
}

/** The names that begin with polytile_ and stand before a parenthesis. */
std::set<std::string> called_in(const std::string &text) {
    const std::string prefix = "polytile_";
    std::set<std::string> names;
    for (size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix, at + 1)) {
        const auto begin = text.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end = std::find_if_not(begin, text.end(), is_of_name);
        const bool is_whole = at == 0 || !is_of_name(text[at - 1]);
        if (is_whole && end != text.end() && *end == '(')
            names.emplace(begin, end);
    }
    return names;
}

std::set<std::string> called_below(const fs::path &directory) {
    std::set<std::string> names;
    for (const auto &entry : fs::recursive_directory_iterator(root / directory)) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".h" || extension == ".c" || extension == ".cc")
            names.merge(called_in(code_of(entry.path())));
    }
    return names;
}

/** Types of functions look like functions. */
std::set<std::string> function_types(const std::string &text) {
    std::set<std::string> names;
    for (size_t at = text.find("typedef "); at != std::string::npos;
         at = text.find("typedef ", at + 1))
        names.merge(called_in(text.substr(at, text.find_first_of(";{", at) - at)));
    return names;
}

std::set<std::string> public_functions() {
    std::set<std::string> names, types;
    for (const auto &entry : fs::directory_iterator(root / "include/polytile")) {
        names.merge(called_in(code_of(entry.path())));
        types.merge(function_types(code_of(entry.path())));
    }
    for (const std::string &type : types)
        names.erase(type);
    return names;
}

/** The names in the section of docs/faults.md that lists what is left out. */
std::set<std::string> left_out() {
    const std::string page = text_of(root / "docs/faults.md");
    const size_t begin = page.find("\n## What no scene calls");
    return called_in(page.substr(begin, page.find("\n## ", begin + 1) - begin));
}

TEST(FaultScenes, CallEveryPublicFunctionThatIsNotSaidToBeLeftOut) {
    std::set<std::string> called = called_below("tests/faults");
    called.merge(called_below("tests/distribute/mpi/faults"));
    const std::set<std::string> functions = public_functions(), out = left_out();
    EXPECT_GT(functions.size(), 60u);
    for (const std::string &name : functions)
        EXPECT_EQ(called.count(name) + out.count(name), 1u)
            << name << ": " << called.count(name) << " in scenes, " << out.count(name)
            << " in docs/faults.md";
    for (const std::string &name : out)
        EXPECT_EQ(functions.count(name), 1u) << "docs/faults.md names " << name;
}

} // namespace
