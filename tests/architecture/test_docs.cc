#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/* What the pages and the public headers point to is there. */

namespace {

namespace fs = std::filesystem;

const fs::path root = POLYTILE_SOURCE_DIR;

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

TEST(Docs, LinksOfPagesPointToFiles) {
    std::vector<fs::path> pages = files_in(root, ".md");
    for (const fs::path &page : files_in(root / "docs", ".md"))
        pages.push_back(page);
    for (const fs::path &page : pages)
        for (const std::string &link : all_between(text_of(page), "](", ")#"))
            EXPECT_TRUE(is_elsewhere(link) || fs::exists(page.parent_path() / link))
                << page << " links to " << link;
}

TEST(Docs, PagesNamedInHeadersAreThere) {
    for (const fs::path &header : files_in(root / "include/polytile", ".h"))
        for (const std::string &name : all_between(text_of(header), "docs/", "."))
            EXPECT_TRUE(fs::exists(root / "docs" / (name + ".md"))) << header << " names " << name;
}

} // namespace
