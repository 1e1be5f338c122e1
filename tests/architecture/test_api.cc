#include "support/places.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
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

/** What structs are that later versions will not give further members. */
std::string reason_to_be_done(const std::string &name) {
    static const std::map<std::string, std::string> reasons = {
        {"polytile_range", "a value"},
        {"polytile_domain", "a value"},
        {"polytile_parameter", "a value"},
        {"polytile_affine", "a term of a declaration: what declarations learn has text first"},
        {"polytile_index_elements", "a term of a declaration"},
        {"polytile_subscript", "a term of a declaration"},
        {"polytile_view", "compiled into kernels, which get one an operand"},
        {"polytile_pieces", "compiled into kernels"},
        {"polytile_repetition", "compiled into launchers"},
        {"polytile_sub_kernel", "compiled into launchers, which get a pointer to one"},
        {"polytile_view_shape", "written by POLYTILE_KERNEL()"},
        {"polytile_body_parameter", "written by POLYTILE_KERNEL()"},
    };
    const auto found = reasons.find(name);
    return found == reasons.end() ? "" : found->second;
}

TEST(Api, StructsEndInReservedMembersOrAreDone) {
    const std::regex structs("typedef struct (\\w+) \\{\n([^}]*)\n\\} \\1;");
    size_t n_reserved = 0, n_done = 0;
    for (const auto &entry : fs::directory_iterator(root / "include/polytile")) {
        if (entry.path().filename().string().rfind("kernel_", 0) == 0 ||
            entry.path().filename().string().rfind("message", 0) == 0)
            continue;
        const std::string text = text_of(entry.path());
        for (auto at = std::sregex_iterator(text.begin(), text.end(), structs);
             at != std::sregex_iterator(); ++at) {
            const std::string members = without_comments((*at)[2]);
            const bool grows =
                std::regex_search(members, std::regex("int64_t reserved\\[4\\];\\s*$"));
            const bool is_done = !reason_to_be_done((*at)[1]).empty();
            EXPECT_NE(grows, is_done) << entry.path() << ": " << (*at)[1];
            n_reserved += grows;
            n_done += is_done;
        }
    }
    EXPECT_GT(n_reserved, 25u);
    EXPECT_EQ(n_done, 12u);
}

} // namespace
