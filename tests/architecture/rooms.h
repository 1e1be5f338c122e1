#ifndef POLYTILE_TESTS_ARCHITECTURE_ROOMS_H
#define POLYTILE_TESTS_ARCHITECTURE_ROOMS_H

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

/* The table of rooms in docs/architecture.md, and what the sources really do. Paths are relative to
 * src/. */

namespace architecture {

namespace fs = std::filesystem;

/** One row of the table. */
struct Room {
    std::string path;
    std::string first_page; /* a header; relative to the project */
    std::set<std::string> uses;
};

/** Rooms by their path. A page without the table has none. */
std::map<std::string, Room> rooms_of_page(const fs::path &page);

/** The room of a file: its folder, or the one around a folder of variants such as no_gmp/. */
std::string room_of(const std::string &file);

/** All .c and .h files. */
std::vector<std::string> source_files();

struct Include {
    std::string file;
    bool is_quoted;
    std::string name;
};

/** The #include lines of a file. A quoted name is as it is found from src/. */
std::vector<Include> includes_of(const fs::path &file);

/** A function or variable that one source takes from another. */
struct Use {
    std::string file;
    std::string symbol;
    std::string definer;
};

/** Whether object files of sources are beside the tests. */
bool has_objects();

/** What object files say, of sources that there still are; empty where they are not found. */
std::vector<Use> uses_by_objects();

/** Sets of nodes that reach each other. */
std::vector<std::set<std::string>>
find_circles(const std::map<std::string, std::set<std::string>> &arrows);

} // namespace architecture

#endif
