#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/* docs/architecture.md draws arrows between the directories; no #include may point against one. A
 * file is in the layer with the longest path that leads to it. */

namespace {

namespace fs = std::filesystem;

struct Layer {
    const char *path; /* of a directory, or one file */
    std::vector<std::string> quoted_may_begin_with;
    std::vector<std::string> system_must_not_begin_with;
};

const std::vector<std::string> runtimes = {"omp.h", "mpi.h", "cuda", "nv"};
const std::vector<std::string> runtimes_and_isl = {"omp.h", "mpi.h", "cuda", "nv", "isl/"};

const std::vector<std::string> all_but_mpi = {"omp.h", "cuda", "nv", "isl/"};

const Layer layers[] = {
    {"include/polytile", {}, runtimes},
    {"include/polytile/mpi.h", {}, all_but_mpi},
    {"src/base", {"base/"}, runtimes_and_isl},
    {"src/access", {"base/", "access/"}, runtimes},
    {"src/partition", {"base/", "access/", "partition/"}, runtimes},
    {"src/launch", {"base/", "access/", "partition/", "launch/"}, {"mpi.h", "isl/"}},
    {"src/queue",
     {"base/", "access/", "partition/", "launch/", "queue/"},
     {"omp.h", "mpi.h", "cuda", "nv", "isl/"}},
    {"src/distribute",
     {"base/", "access/", "partition/", "launch/", "queue/", "distribute/"},
     runtimes_and_isl},
    {"src/distribute/mpi",
     {"base/", "access/", "partition/", "launch/", "queue/", "distribute/"},
     all_but_mpi},
    {"tools", {}, runtimes_and_isl},
    {"examples", {"common/"}, {"mpi.h", "isl/"}},
};

struct Include {
    fs::path file;
    bool quoted;
    std::string name;
};

bool is_source(const fs::path &path) {
    const std::string extension = path.extension().string();
    return extension == ".c" || extension == ".h";
}

/* The quotes or angle brackets of an #include line and what is between them; empty for any other.
 */
std::string included_by(const std::string &line) {
    const size_t hash = line.find_first_not_of(" \t");
    if (hash == std::string::npos || line[hash] != '#')
        return "";
    const size_t word = line.find_first_not_of(" \t", hash + 1);
    if (word == std::string::npos || line.compare(word, 7, "include") != 0)
        return "";
    const size_t open = line.find_first_of("<\"", word);
    const size_t close = open == std::string::npos ? open : line.find_first_of(">\"", open + 1);
    return close == std::string::npos ? "" : line.substr(open, close - open);
}

std::vector<Include> includes_of(const fs::path &file) {
    std::vector<Include> includes;
    std::ifstream stream(file);
    std::string line;
    while (std::getline(stream, line)) {
        const std::string included = included_by(line);
        if (!included.empty())
            includes.push_back({file, included[0] == '"', included.substr(1)});
    }
    return includes;
}

std::vector<Include> includes_below(const fs::path &path) {
    std::vector<Include> includes;
    if (!fs::exists(path))
        return includes;
    if (fs::is_regular_file(path))
        return includes_of(path);
    for (const auto &entry : fs::recursive_directory_iterator(path))
        if (is_source(entry.path()))
            for (const Include &include : includes_of(entry.path()))
                includes.push_back(include);
    return includes;
}

bool begins_with_one_of(const std::string &name, const std::vector<std::string> &prefixes) {
    for (const std::string &prefix : prefixes)
        if (name.compare(0, prefix.size(), prefix) == 0)
            return true;
    return false;
}

/* A header beside the file that names it is inside the same directory, whatever its name. */
bool is_beside(const Include &include) {
    return include.name.find('/') == std::string::npos &&
           fs::exists(include.file.parent_path() / include.name);
}

fs::path path_of(const Layer &layer) {
    return fs::path(POLYTILE_SOURCE_DIR) / layer.path;
}

bool is_of(const Layer &layer, const fs::path &file) {
    const fs::path path = path_of(layer);
    return std::mismatch(path.begin(), path.end(), file.begin(), file.end()).first == path.end();
}

/* That a file is of a layer that lies within another's directory. */
bool has_nearer_layer(const Layer &layer, const fs::path &file) {
    for (const Layer &other : layers)
        if (is_of(other, file) && path_of(other) != path_of(layer) && is_of(layer, path_of(other)))
            return true;
    return false;
}

bool is_allowed(const Layer &layer, const Include &include) {
    if (!include.quoted)
        return !begins_with_one_of(include.name, layer.system_must_not_begin_with);
    return is_beside(include) || begins_with_one_of(include.name, layer.quoted_may_begin_with);
}

TEST(Architecture, IncludesPointAlongTheArrows) {
    for (const Layer &layer : layers)
        for (const Include &include : includes_below(path_of(layer)))
            EXPECT_TRUE(has_nearer_layer(layer, include.file) || is_allowed(layer, include))
                << include.file << " must not include " << include.name;
}

TEST(Architecture, MpiIsOfDistributionAlone) {
    const fs::path root = POLYTILE_SOURCE_DIR;
    for (const char *directory : {"include", "src"})
        for (const Include &include : includes_below(root / directory))
            if (include.name == "mpi.h" && !include.quoted) {
                EXPECT_TRUE(include.file == root / "include/polytile/mpi.h" ||
                            include.file.string().find("/src/distribute/mpi/") != std::string::npos)
                    << include.file;
            }
}

TEST(Architecture, TheScheduleCheckerKnowsNothingOfIslOrOfPlanners) {
    const fs::path directory = fs::path(POLYTILE_SOURCE_DIR) / "src/partition";
    for (const Include &include : includes_below(directory)) {
        if (include.file.filename().string().compare(0, 5, "check") != 0)
            continue;
        EXPECT_FALSE(
            begins_with_one_of(include.name, {"isl/", "access/relation", "partition/plan"}))
            << include.file << " must not include " << include.name;
    }
}

TEST(Architecture, EverySourceDirectoryHasALayer) {
    for (const auto &entry : fs::directory_iterator(fs::path(POLYTILE_SOURCE_DIR) / "src")) {
        if (!entry.is_directory())
            continue;
        const std::string name = "src/" + entry.path().filename().string();
        bool found = false;
        for (const Layer &layer : layers)
            found = found || name == layer.path;
        EXPECT_TRUE(found) << name << " is not in the table of layers";
    }
}

} // namespace
