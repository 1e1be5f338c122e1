#include "support/places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

/* tests/api/ has a test of each header, in which each function of it is called. That of NAME.h is
 * test_NAME.c; what is long has further files, test_NAME_SUBJECT.c. */

namespace {

namespace fs = std::filesystem;

const fs::path root = in_source("");

/** What kernel.h and message.h include for themselves, and what needs nvcc or MPI: cuda.h is used
 * by launch/cuda/kernels.cu and by outside projects (package/run), mpi.h by
 * distribute/mpi/test_mpi_api.c. */
bool is_tested_elsewhere(const std::string &header) {
    return header.rfind("kernel_", 0) == 0 || header.rfind("message_", 0) == 0 ||
           header == "cuda" || header == "mpi";
}

std::string text_of(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/** The calls in the test of a header, in all its files. */
std::string calls_in_test(const std::string &header) {
    const std::string name = "test_" + header;
    std::string calls;
    for (const auto &entry : fs::directory_iterator(root / "tests/api")) {
        const std::string file = entry.path().stem();
        if (file == name || file.rfind(name + "_", 0) == 0)
            calls += text_of(entry.path());
    }
    return calls;
}

/** Nor function types. */
std::string without_comments(const std::string &text) {
    return std::regex_replace(text, std::regex("/\\*[^]*?\\*/|typedef [^;{]*\\);"), "");
}

/** The functions that a header declares. */
std::set<std::string> functions_of(const std::string &header) {
    const std::regex declaration("\\b(polytile_\\w+)\\([^;{]*\\);");
    std::set<std::string> functions;
    for (auto at = std::sregex_iterator(header.begin(), header.end(), declaration);
         at != std::sregex_iterator(); ++at)
        functions.insert((*at)[1]);
    return functions;
}

TEST(Api, EachFunctionIsCalledInTheTestOfItsHeader) {
    size_t n_functions = 0;
    for (const auto &entry : fs::directory_iterator(root / "include/polytile")) {
        const std::string header = entry.path().stem();
        if (is_tested_elsewhere(header))
            continue;
        const fs::path test = root / "tests/api" / ("test_" + header + ".c");
        EXPECT_TRUE(fs::exists(test)) << test;
        const std::string calls = calls_in_test(header);
        for (const std::string &function : functions_of(without_comments(text_of(entry.path())))) {
            EXPECT_NE(calls.find(function + "("), std::string::npos)
                << test << " does not call " << function;
            n_functions++;
        }
    }
    EXPECT_GT(n_functions, 80u);
}

/** But for the blocks of the pages, which are of several headers. */
TEST(Api, TestsHaveTheNameOfTheirHeader) {
    for (const auto &test : fs::directory_iterator(root / "tests/api")) {
        const std::string name = test.path().stem();
        if (name.rfind("test_", 0) != 0 || name == "test_pages")
            continue;
        bool is_named = false;
        for (const auto &header : fs::directory_iterator(root / "include/polytile"))
            is_named |= (name + "_").rfind("test_" + header.path().stem().string() + "_", 0) == 0;
        EXPECT_TRUE(is_named) << test.path() << " has the name of no header";
    }
}

TEST(Api, IsTestedWithPublicHeadersAlone) {
    const std::regex quoted("#include \"(?!api/|support/c_test)");
    for (const auto &entry : fs::directory_iterator(root / "tests/api"))
        EXPECT_FALSE(std::regex_search(text_of(entry.path()), quoted)) << entry.path();
}

} // namespace
