#include "architecture/rooms.h"
#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/* What the pages and the public headers point to is there. */

namespace {

namespace fs = std::filesystem;

const fs::path root = in_source("");

std::string text_of(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::vector<fs::path> files_in(const fs::path &directory, const std::string &extension) {
    std::vector<fs::path> files;
    for (const auto &entry : fs::directory_iterator(directory))
        if (entry.path().extension() == extension)
            files.push_back(entry.path());
    return files;
}

/* What stands between each `before` and the next of the characters in `ends`. */
std::vector<std::string> all_between(const std::string &text, const std::string &before,
                                     const std::string &ends) {
    std::vector<std::string> found;
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
        const size_t begin = at + before.size();
        found.push_back(text.substr(begin, text.find_first_of(ends, begin) - begin));
    }
    return found;
}

bool is_elsewhere(const std::string &link) {
    return link.find(':') != std::string::npos;
}

/* A page without its code: fenced and indented blocks, and what stands in backquotes on a line.
 * Declarations have "](", too. */
std::string without_code(const std::string &page) {
    std::istringstream lines(page);
    std::string text, before;
    bool is_fenced = false, is_indented = false;
    for (std::string line; std::getline(lines, line); before = line) {
        const bool is_fence = line.rfind("```", 0) == 0;
        is_fenced ^= is_fence;
        is_indented = line.rfind("    ", 0) == 0 && (is_indented || before.empty());
        if (!is_fenced && !is_fence && !is_indented)
            text += std::regex_replace(line, std::regex("`[^`]*`"), "code") + "\n";
    }
    return text;
}

TEST(Docs, CodeHasNoLinks) {
    EXPECT_EQ(without_code("a [b](c)\n```c\n[d](e)\n```\n`k[i](f32 a)` [`f`](g)\n\n    k[i](a)\n"
                           "    [h](i)\n- j\n    [k](l)\n"),
              "a [b](c)\ncode [code](g)\n\n- j\n    [k](l)\n");
}

TEST(Docs, LinksOfPagesPointToFiles) {
    std::vector<fs::path> pages = files_in(root, ".md");
    for (const fs::path &page : files_in(root / "docs", ".md"))
        pages.push_back(page);
    for (const fs::path &page : pages)
        for (const std::string &link : all_between(without_code(text_of(page)), "](", ")#"))
            EXPECT_TRUE(is_elsewhere(link) || fs::exists(page.parent_path() / link))
                << page << " links to " << link;
}

/* As renderers do: "## The `cuda` device" becomes "the-cuda-device". */
std::string anchor_of(const std::string &heading) {
    std::string anchor;
    for (const char c : heading)
        if (std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        else if (c == ' ')
            anchor += '-';
    return anchor;
}

bool has_section(const std::string &page, const std::string &anchor) {
    for (const std::string &heading : all_between(page, "# ", "\n"))
        if (anchor_of(heading) == anchor)
            return true;
    return false;
}

TEST(Docs, LinksToSectionsPointToHeadings) {
    for (const fs::path &page : files_in(root / "docs", ".md"))
        for (const std::string &link : all_between(text_of(page), "](", ")")) {
            const size_t hash = link.find('#');
            if (is_elsewhere(link) || hash == std::string::npos)
                continue;
            const fs::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
            EXPECT_TRUE(has_section(text_of(target), link.substr(hash + 1)))
                << page << " links to " << link;
        }
}

TEST(Docs, EachPageHasAPlaceInTheOrderToRead) {
    const std::string order = text_of(root / "docs/README.md");
    for (const fs::path &page : files_in(root / "docs", ".md"))
        EXPECT_TRUE(page.filename() == "README.md" ||
                    order.find("](" + page.filename().string() + ")") != std::string::npos)
            << "docs/README.md does not name " << page;
}

bool begins_with(const std::string &text, const std::string &beginning) {
    return text.compare(0, beginning.size(), beginning) == 0;
}

/* src, tests, and the folders of src that have rooms. */
const std::set<std::string> &folders_of_sources() {
    static const std::set<std::string> folders = [] {
        std::set<std::string> made{"src", "tests"};
        for (const auto &[path, room] : architecture::rooms_of_page(root / "docs/architecture.md"))
            made.insert(path.substr(0, path.find('/')));
        return made;
    }();
    return folders;
}

/* A path below src/ or tests/, or without src/ as #include writes it; none with wildcards. */
bool is_path_of_source(const std::string &quoted) {
    const size_t slash = quoted.find('/');
    return quoted.find_first_of(" *…{") == std::string::npos && slash != std::string::npos &&
           folders_of_sources().count(quoted.substr(0, slash)) != 0;
}

bool is_source_there(const std::string &path) {
    const fs::path place = begins_with(path, "src/") || begins_with(path, "tests/")
                               ? root / path
                               : root / "src" / path;
    return fs::exists(place) || fs::exists(place.string() + ".c") ||
           fs::exists(place.string() + ".h");
}

TEST(Docs, SourcesNamedInPagesAreThere) {
    std::vector<fs::path> pages = files_in(root, ".md");
    for (const fs::path &page : files_in(root / "docs", ".md"))
        pages.push_back(page);
    for (const fs::path &page : pages)
        for (const std::string &quoted : all_between(text_of(page), "`", "`\n"))
            EXPECT_TRUE(!is_path_of_source(quoted) || is_source_there(quoted))
                << page << " names " << quoted;
}

/* The steps of a numbered list, each in one line. */
std::vector<std::string> steps_of(const std::string &page) {
    std::vector<std::string> steps;
    std::istringstream lines(page);
    bool is_step = false;
    for (std::string line; std::getline(lines, line);) {
        const bool begins = std::isdigit(static_cast<unsigned char>(line[0])) != 0;
        is_step = begins || (is_step && begins_with(line, "  "));
        if (begins)
            steps.push_back(line);
        else if (is_step)
            steps.back() += line;
    }
    return steps;
}

/* Where a step begins with a folder, as "2. `src/partition/prove/`: `race.c`", names without one
 * are of files in it. */
TEST(Docs, FilesNamedBehindAFolderAreInIt) {
    const std::regex begins("[0-9]+\\. `((?:src|tests)/[a-z_/]*)/`: .*");
    const std::regex is_file("[a-z0-9_]+\\.(?:c|h|cc)");
    std::smatch folder;
    int n_files = 0;
    for (const std::string &step : steps_of(text_of(root / "CONTRIBUTING.md")))
        if (std::regex_match(step, folder, begins))
            for (const std::string &quoted : all_between(step, "`", "`"))
                if (std::regex_match(quoted, is_file)) {
                    EXPECT_TRUE(fs::exists(root / folder[1].str() / quoted)) << step;
                    n_files++;
                }
    EXPECT_GT(n_files, 4);
}

TEST(Docs, PagesNamedInHeadersAreThere) {
    for (const fs::path &header : files_in(root / "include/polytile", ".h"))
        for (const std::string &name : all_between(text_of(header), "docs/", "."))
            EXPECT_TRUE(fs::exists(root / "docs" / (name + ".md"))) << header << " names " << name;
}

void remove_white_space(std::string *text) {
    text->erase(
        std::remove_if(text->begin(), text->end(), [](unsigned char c) { return isspace(c); }),
        text->end());
}

/* All sources and build files of the tests, without white space. */
std::string all_tests() {
    std::string text;
    for (const auto &entry : fs::recursive_directory_iterator(root / "tests"))
        if (entry.path().extension() == ".cc" || entry.path().extension() == ".c" ||
            entry.path().filename() == "CMakeLists.txt")
            text += text_of(entry.path());
    remove_white_space(&text);
    return text;
}

/* The code between "```c" and "```". */
std::vector<std::string> code_of(const std::string &page) {
    const std::string begins = "```c\n", ends = "```";
    std::vector<std::string> code;
    for (size_t at = page.find(begins); at != std::string::npos; at = page.find(begins, at + 1)) {
        const size_t begin = at + begins.size();
        code.push_back(page.substr(begin, page.find(ends, begin) - begin));
    }
    return code;
}

/* Programs are run by tests/package/run. These are parts of projects that it builds. */
bool is_tried_elsewhere(const std::string &code) {
    if (code.find("int main(") != std::string::npos)
        return true;
    for (const char *beginning : {"/* kernels.h */", "/* kernels.c: "})
        if (begins_with(code, beginning))
            return true;
    return false;
}

std::string without_comments(std::string code) {
    for (size_t at = code.find("/*"); at != std::string::npos; at = code.find("/*", at))
        code.erase(at, code.find("*/", at) + 2 - at);
    return code;
}

/* What stands between empty lines, without white space and comments. */
std::vector<std::string> paragraphs_of(const std::string &code) {
    std::istringstream lines(without_comments(code));
    std::vector<std::string> paragraphs{""};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty())
            paragraphs.emplace_back();
        remove_white_space(&line);
        paragraphs.back() += line;
    }
    return paragraphs;
}

/* So it compiles, and does what the page says. */
TEST(Docs, CodeThatIsNoProgramStandsInTests) {
    std::string tests = without_comments(
        text_of(root / "tests/api/test_pages.c") + text_of(root / "tests/api/test_array.c") +
        text_of(root / "tests/launch/access_check/test_access_check_snippets.cc"));
    remove_white_space(&tests);
    size_t n_compared = 0;
    std::vector<fs::path> pages = files_in(root / "docs", ".md");
    pages.push_back(root / "README.md");
    pages.push_back(root / "CONTRIBUTING.md");
    for (const fs::path &page : pages)
        for (const std::string &code : code_of(text_of(page))) {
            if (is_tried_elsewhere(code))
                continue;
            for (const std::string &part : paragraphs_of(code)) {
                n_compared++;
                EXPECT_NE(tests.find(part), std::string::npos) << page << ": " << part;
            }
        }
    EXPECT_GT(n_compared, 20u);
}

/* A page with a program of its own is one of those whose programs are run. */
TEST(Docs, ProgramsOfPagesAreRun) {
    const std::string run = text_of(root / "tests/package/run");
    for (const fs::path &page : files_in(root / "docs", ".md"))
        for (const std::string &code : code_of(text_of(page))) {
            const bool is_run = code.find("\nint main(") == std::string::npos ||
                                !begins_with(code, "/* ") ||
                                run.find("docs/" + page.filename().string()) != std::string::npos;
            EXPECT_TRUE(is_run) << page;
        }
}

bool is_example_script(const std::string &suite, const std::string &name) {
    return suite == "Examples" && fs::exists(root / "tests/examples" / (name + ".sh"));
}

bool is_test_name(const std::string &quoted) {
    return std::isupper(static_cast<unsigned char>(quoted[0])) &&
           quoted.find_first_of(" /*=") == std::string::npos &&
           quoted.find('.') != std::string::npos && quoted.find(".md") == std::string::npos;
}

/* How many tests a page names; each of them is there. */
size_t expect_tests_are_there(const std::string &page) {
    const std::string tests = all_tests();
    size_t n_named = 0;
    for (const std::string &quoted : all_between(text_of(root / page), "`", "`")) {
        if (quoted.empty() || !is_test_name(quoted))
            continue;
        const size_t dot = quoted.find('.');
        const std::string suite = quoted.substr(0, dot), name = quoted.substr(dot + 1);
        n_named++;
        EXPECT_TRUE(is_example_script(suite, name) ||
                    tests.find("(" + suite + "," + name + ")") != std::string::npos ||
                    tests.find("NAME" + quoted) != std::string::npos)
            << page << " names " << quoted;
    }
    return n_named;
}

TEST(Docs, TestsThatProveGuaranteesAreThere) {
    EXPECT_GT(expect_tests_are_there("docs/guarantees.md"), 20u);
}

TEST(Docs, TestsThatAreModelsAreThere) {
    EXPECT_GT(expect_tests_are_there("CONTRIBUTING.md"), 0u);
}

} // namespace
