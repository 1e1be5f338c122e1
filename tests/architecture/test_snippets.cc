#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

/* Every block of the site's pages is tried by some test, or is no program. */

namespace {

namespace fs = std::filesystem;

const fs::path root = in_source("");

struct Block {
    int line;
    std::string language; /* that of the fence; "indented": one without a fence */
    std::string text;
};

std::string text_of(const fs::path &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

bool begins_with(const std::string &text, const std::string &beginning) {
    return text.compare(0, beginning.size(), beginning) == 0;
}

bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
}

/* The blocks of a page, in their order. What is indented after an empty line is a block, too. */
std::vector<Block> blocks_of(const std::string &page) {
    std::istringstream lines(page);
    std::vector<Block> blocks;
    bool is_fenced = false, is_indented = false;
    std::string line, before;
    for (int number = 1; std::getline(lines, line); before = line, number++) {
        if (begins_with(line, "```")) {
            if (!is_fenced)
                blocks.push_back({number, line.substr(3), ""});
            is_fenced = !is_fenced;
            is_indented = false;
        } else if (is_fenced) {
            blocks.back().text += line + "\n";
        } else if (begins_with(line, "    ")) {
            if (!is_indented && before.empty())
                blocks.push_back({number, "indented", ""});
            is_indented |= before.empty();
            if (is_indented)
                blocks.back().text += line.substr(4) + "\n";
        } else if (!line.empty()) {
            is_indented = false;
        }
    }
    return blocks;
}

TEST(Snippets, AreFoundWithAndWithoutFences) {
    const auto blocks =
        blocks_of("a\n\n    b\n\n    c\n\nd\n    e\n```sh\nf\n    g\n```\n- h\n\n    i\n");
    ASSERT_EQ(blocks.size(), 3u);
    EXPECT_EQ(blocks[0].language + blocks[0].text, "indentedb\nc\n");
    EXPECT_EQ(blocks[1].language + blocks[1].text, "shf\n    g\n");
    EXPECT_EQ(blocks[1].line, 9);
    EXPECT_EQ(blocks[2].text, "i\n");
}

std::vector<std::string> pages_of_the_site() {
    std::vector<std::string> pages{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"};
    for (const char *place : {"docs", "site", "site/reference"})
        for (const auto &entry : fs::directory_iterator(root / place))
            if (entry.path().extension() == ".md")
                pages.push_back(std::string(place) + "/" + entry.path().filename().string());
    std::sort(pages.begin(), pages.end());
    return pages;
}

/* Who tries the blocks of a language, and the words by which it names a page: PAGE is its path,
 * NAME the file's name. "": all pages. */
struct Way {
    const char *language, *tried_by, *names;
};

const Way ways[] = {
    {"c", "tests/architecture/test_docs.cc", ""},
    {"sh", "tests/package/commands", ""},
    {"console", "tests/package/commands", ""},
    {"dot", "tests/package/commands", "page=PAGE"},
    {"cmake", "tests/package/run", "try_cmake_block PAGE "},
    {"cuda", "tests/package/run", "try_cuda_block PAGE"},
    {"fortran", "fortran/tests/CMakeLists.txt", "PAGE"},
    {"python", "python/tests/test_docs.py", "\"NAME\""},
    {"json", "tests/launch/tuning/test_table.cc", "PAGE"},
};

/* Programs that stand without a fence, since the tests that run every fenced one cannot run them:
 * how they begin, and who runs them by which words. */
const Way run_by_themselves[] = {
    {"sudo apt-get install gcc libc6-dev", "python/tests/test_docs.py", "venv/bin/python\\n\\n"},
    {"import cupy", "python/tests/test_gpu.py", "\"import cupy\" in text"},
    {"@pt.launcher(", "python/tests/test_gpu.py", "\"torch.from_dlpack\" in text"},
    {"from mpi4py import MPI", "python/tests/test_ranks.py", "program_of_the_page(\"from mpi4py"},
    {"@pt.body(", "python/tests/test_numba.py", "program_of_the_page(\"@pt.body"},
};

std::string with_page(std::string words, const std::string &page) {
    const std::pair<std::string, std::string> places[] = {{"PAGE", page},
                                                          {"NAME", fs::path(page).filename()}};
    for (const auto &[name, value] : places)
        if (const size_t at = words.find(name); at != std::string::npos)
            words.replace(at, name.size(), value);
    return words;
}

bool is_tried(const Way &way, const std::string &page) {
    return has(text_of(root / way.tried_by), with_page(way.names, page));
}

/* Commands, and the first words of programs. */
bool looks_like_a_program(const std::string &text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
        for (const char *beginning :
             {"$ ",     "polytile ", "scripts/",     "build/",    "build-",
              "cmake ", "ctest ",    "cc ",          "gcc ",      "gfortran ",
              "mpicc ", "nvcc ",     "mpiexec ",     "pip ",      "python",
              "apt",    "dpkg",      "export ",      "import ",   "from mpi4py",
              "@pt.",   "#include",  "find_package", "polytile_", "program "})
            if (begins_with(line, beginning) || has(line, " ./my_program"))
                return true;
    return false;
}

TEST(Snippets, LookLikeProgramsIfTheyAre) {
    EXPECT_TRUE(looks_like_a_program("polytile plan --kernel 'k[i]: in x[i]'\n"));
    EXPECT_TRUE(looks_like_a_program("POLYTILE_CHECK=wide ./my_program\n"));
    EXPECT_FALSE(looks_like_a_program("polytile: add: declared too wide\n"));
    EXPECT_FALSE(looks_like_a_program("lag(e, l) = the largest i - j\n"));
}

bool is_program(const Block &block) {
    return block.language == "fortran" || block.language == "console" ||
           (block.language == "c" && has(block.text, "int main("));
}

void erase_all(std::string *text, const std::string &part) {
    for (size_t at = text->find(part); at != std::string::npos; at = text->find(part, at))
        text->erase(at, part.size());
}

/* Nor the ends of lines in C and Fortran. */
std::string without_space_and_quotes(std::string text) {
    text.erase(std::remove_if(text.begin(), text.end(),
                              [](unsigned char c) { return isspace(c) || c == '"' || c == '\''; }),
               text.end());
    for (const char *part : {"\\n", "//", "&", "new_line(a)"})
        erase_all(&text, part);
    return text;
}

/* Messages that no program of the page prints: a test compares with all of their text. */
bool is_said_in_a_test(const std::string &text) {
    for (const char *test : {"tests/api/test_pages.c", "fortran/tests/facts.f90"})
        if (has(without_space_and_quotes(text_of(root / test)), without_space_and_quotes(text)))
            return true;
    return false;
}

/* Whether a block is tried, or is no program. */
bool is_covered(const Block &block, const std::string &page, bool follows_a_program) {
    if (block.language == "text")
        return follows_a_program || is_said_in_a_test(block.text);
    if (block.language == "indented") {
        for (const Way &way : run_by_themselves)
            if (begins_with(block.text, way.language))
                return is_tried(way, page);
        return !looks_like_a_program(block.text);
    }
    if (begins_with(block.language, "{"))
        return begins_with(page, "site/");
    for (const Way &way : ways)
        if (block.language == way.language)
            return is_tried(way, page);
    return false;
}

TEST(Snippets, AreAllTriedOrNoPrograms) {
    std::map<std::string, int> counts;
    for (const std::string &page : pages_of_the_site()) {
        bool follows_a_program = false;
        for (const Block &block : blocks_of(text_of(root / page))) {
            EXPECT_TRUE(is_covered(block, page, follows_a_program))
                << page << ":" << block.line << ": no test tries this block of "
                << (block.language.empty() ? "no language" : block.language);
            follows_a_program =
                is_program(block) || (follows_a_program && block.language != "text");
            counts[block.language]++;
        }
    }
    for (const auto &[language, count] : counts)
        if (!begins_with(language, "{"))
            RecordProperty(language, count);
    EXPECT_GT(counts["c"] + counts["python"] + counts["fortran"], 60);
    EXPECT_GT(counts["sh"] + counts["console"], 35);
    EXPECT_GT(counts["text"], 30);
}

} // namespace
