#include "architecture/rooms.h"
#include "support/places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>

/* The table of rooms in docs/architecture.md says which room may use which. No #include and no call
 * may go another way. */

namespace {

using namespace architecture;

using Arrows = std::map<std::string, std::set<std::string>>;

const fs::path root = in_source("");
const fs::path page = root / "docs/architecture.md";

const std::map<std::string, Room> &rooms() {
    static const std::map<std::string, Room> of_page = rooms_of_page(page);
    return of_page;
}

/* The table leaves out base, which every room may use. */
bool may_use(const std::string &from, const std::string &to) {
    const auto room = rooms().find(from);
    return from == to || to == "base" ||
           (room != rooms().end() && room->second.uses.count(to) != 0);
}

int64_t lines_of(const fs::path &file) {
    std::ifstream stream(file);
    return std::count(std::istreambuf_iterator<char>(stream), {}, '\n');
}

std::string without_extension(const std::string &file) {
    return file.substr(0, file.rfind('.'));
}

bool begins_with_one_of(const std::string &name, const std::vector<std::string> &prefixes) {
    for (const std::string &prefix : prefixes)
        if (name.compare(0, prefix.size(), prefix) == 0)
            return true;
    return false;
}

TEST(Rooms, EveryFileIsInARoomOfTheTable) {
    for (const std::string &file : source_files())
        EXPECT_EQ(rooms().count(room_of(file)), 1u) << "src/" << file;
}

TEST(Rooms, ArrowsOfTheTableMakeNoCircle) {
    Arrows arrows;
    for (const auto &[path, room] : rooms()) {
        arrows[path] = room.uses;
        for (const std::string &used : room.uses)
            EXPECT_EQ(rooms().count(used), 1u) << path << " uses " << used;
    }
    for (const std::set<std::string> &circle : find_circles(arrows))
        ADD_FAILURE() << *circle.begin() << " and " << circle.size() - 1 << " more use each other";
}

TEST(Rooms, TypesThatAreSharedStandOnce) {
    const std::regex definition("(?:typedef )?((?:struct|enum|union) pti_[a-z_0-9]+) \\{.*");
    std::map<std::string, std::string> where;
    for (const std::string &file : source_files()) {
        std::ifstream stream(root / "src" / file);
        std::smatch found;
        for (std::string line; std::getline(stream, line);) {
            if (!std::regex_match(line, found, definition))
                continue;
            const auto [former, is_new] = where.emplace(found[1], file);
            EXPECT_TRUE(is_new) << found[1] << " stands in " << former->second << " and in "
                                << file;
        }
    }
    EXPECT_GT(where.size(), 300u);
}

/** Of classes of one program that have one name the linker takes the functions of one for all. */
TEST(Rooms, ClassesOfTestsThatAreSharedStandOnce) {
    const std::regex definition("(?:struct|class) ([A-Za-z]+)(?: final)?(?: : .*)? \\{.*");
    const std::regex space("namespace ([a-z_]+) \\{");
    std::map<std::string, std::string> where;
    for (const auto &entry : fs::recursive_directory_iterator(root / "tests")) {
        const std::string file = fs::relative(entry.path(), root / "tests").string();
        if (entry.path().extension() != ".h" ||
            begins_with_one_of(file, {"distribute/mpi/", "faults/", "fuzz/", "outside/", "soak/"}))
            continue;
        std::ifstream stream(entry.path());
        std::string within;
        std::smatch found;
        for (std::string line; std::getline(stream, line);) {
            if (std::regex_match(line, found, space))
                within = found[1].str() + "::";
            if (!std::regex_match(line, found, definition))
                continue;
            const auto [former, is_new] = where.emplace(within + found[1].str(), file);
            EXPECT_TRUE(is_new) << found[1] << " stands in " << former->second << " and in "
                                << file;
        }
    }
    EXPECT_GT(where.size(), 50u);
}

TEST(Rooms, IncludesGoAlongTheArrows) {
    for (const std::string &file : source_files())
        for (const Include &include : includes_of(root / "src" / file))
            EXPECT_TRUE(!include.is_quoted || may_use(room_of(file), room_of(include.name)))
                << "src/" << file << " must not include " << include.name;
}

/* Where object files are, nm has to tell what they use. */
const char *const no_objects = "no object files beside the tests", *const no_uses = POLYTILE_NM;

TEST(Rooms, CallsGoAlongTheArrows) {
    const std::vector<Use> uses = uses_by_objects();
    if (!has_objects())
        GTEST_SKIP() << no_objects;
    ASSERT_FALSE(uses.empty()) << no_uses;
    for (const Use &use : uses)
        EXPECT_TRUE(may_use(room_of(use.file), room_of(use.definer)))
            << "src/" << use.file << " must not use " << use.symbol << " of " << use.definer;
}

/* The names of functions that a header declares, other than static ones. */
std::set<std::string> declared_in(const fs::path &header) {
    const std::regex declaration("(?!static|typedef)[a-z][a-z0-9_ *]*[ *](pti_[a-z0-9_]+)\\(.*");
    std::set<std::string> names;
    std::ifstream stream(header);
    std::smatch found;
    for (std::string line; std::getline(stream, line);)
        if (std::regex_match(line, found, declaration))
            names.insert(found[1]);
    return names;
}

TEST(Rooms, DefineTheFunctionsThatTheirHeadersDeclare) {
    if (!has_objects())
        GTEST_SKIP() << no_objects;
    std::map<std::string, std::string> definer;
    for (const Use &use : uses_by_objects())
        definer[use.symbol] = use.definer;
    int n_compared = 0;
    for (const std::string &file : source_files()) {
        if (fs::path(file).extension() != ".h")
            continue;
        for (const std::string &name : declared_in(root / "src" / file)) {
            const auto defined = definer.find(name);
            if (defined == definer.end())
                continue;
            EXPECT_EQ(room_of(defined->second), room_of(file))
                << "src/" << file << " declares " << name << ", which src/" << defined->second
                << " defines";
            n_compared++;
        }
    }
    EXPECT_GT(n_compared, 1000);
}

/* An arrow of the table that nothing takes says too much. Rooms that are not built here, as where
 * there is no CUDA, are left out. */
TEST(Rooms, EveryArrowIsTaken) {
    std::set<std::pair<std::string, std::string>> taken;
    std::set<std::string> built;
    for (const std::string &file : source_files())
        for (const Include &include : includes_of(root / "src" / file))
            taken.insert({room_of(file), room_of(include.name)});
    for (const Use &use : uses_by_objects()) {
        taken.insert({room_of(use.file), room_of(use.definer)});
        built.insert({room_of(use.file), room_of(use.definer)});
    }
    for (const auto &[path, room] : rooms())
        for (const std::string &used : room.uses)
            EXPECT_TRUE(built.count(path) == 0 || built.count(used) == 0 ||
                        taken.count({path, used}) == 1)
                << path << " does not use " << used;
}

TEST(Rooms, AreNeitherFullNorLong) {
    std::map<std::string, int64_t> n_files, n_lines;
    for (const std::string &file : source_files()) {
        n_files[room_of(file)]++;
        n_lines[room_of(file)] += lines_of(root / "src" / file);
    }
    for (const auto &[room, n] : n_files) {
        EXPECT_LE(n, 40) << room;
        EXPECT_LE(n_lines[room], 4500) << room;
    }
}

/* A test of a room has the name of one of its sources, or of the room, and perhaps a subject behind
 * it. Those of rooms that run on GPUs may stand in a folder cuda. */
struct TestOfRoom {
    std::string file; /* relative to tests/ */
    std::string room;
    std::string name; /* "test_" and what follows, without an extension */

    bool is_of(const std::string &source) const {
        return (name + "_").rfind("test_" + source + "_", 0) == 0;
    }
};

std::vector<TestOfRoom> tests_of_rooms() {
    const std::set<std::string> others = {"api",     "architecture", "bench",   "examples",
                                          "faults",  "fuzz",         "outside", "soak",
                                          "support", "tools",        "package"};
    std::vector<TestOfRoom> tests;
    for (const auto &entry : fs::recursive_directory_iterator(root / "tests")) {
        const std::string file = fs::relative(entry.path(), root / "tests").string();
        const std::string name = entry.path().stem();
        if (name.rfind("test_", 0) != 0 || others.count(file.substr(0, file.find('/'))) != 0)
            continue;
        std::string room = fs::path(file).parent_path();
        if (rooms().count(room) == 0 && fs::path(room).filename() == "cuda")
            room = fs::path(room).parent_path();
        tests.push_back({file, room, name});
    }
    return tests;
}

TEST(Rooms, TestsHaveTheNameOfTheirSourceOrRoom) {
    std::map<std::string, std::vector<std::string>> names;
    for (const auto &[path, room] : rooms())
        names[path].push_back(fs::path(path).filename());
    for (const std::string &file : source_files())
        names[room_of(file)].push_back(fs::path(file).stem());
    const std::vector<TestOfRoom> tests = tests_of_rooms();
    for (const TestOfRoom &test : tests) {
        const std::vector<std::string> &sources = names[test.room];
        EXPECT_TRUE(std::any_of(sources.begin(), sources.end(),
                                [&](const std::string &source) { return test.is_of(source); }))
            << "tests/" << test.file << " has the name of no source of src/" << test.room;
    }
    EXPECT_GT(tests.size(), 250u);
}

/* A source without one is tested through others. More of them may be, not fewer. */
TEST(Rooms, AThirdOfTheSourcesHaveATestOfTheirName) {
    const std::vector<TestOfRoom> tests = tests_of_rooms();
    size_t n_sources = 0, n_tested = 0;
    for (const std::string &file : source_files()) {
        if (fs::path(file).extension() != ".c")
            continue;
        n_sources++;
        n_tested += std::any_of(tests.begin(), tests.end(), [&](const TestOfRoom &test) {
            return test.room == room_of(file) && test.is_of(fs::path(file).stem());
        });
    }
    EXPECT_GE(3 * n_tested, n_sources) << n_tested << " of " << n_sources;
}

/* By the functions that they call. */
TEST(Rooms, SourcesDoNotCallEachOtherInCircles) {
    if (!has_objects())
        GTEST_SKIP() << no_objects;
    Arrows arrows;
    for (const Use &use : uses_by_objects())
        if (use.file != use.definer)
            arrows[without_extension(use.file)].insert(without_extension(use.definer));
    EXPECT_GT(arrows.size(), 300u) << no_uses;
    for (const std::set<std::string> &circle : find_circles(arrows)) {
        std::string names;
        for (const std::string &name : circle)
            names += (names.empty() ? "" : " ") + name;
        ADD_FAILURE() << "these call each other: " << names;
    }
}

/* Which system headers a part of the project must not include. */
struct SystemRule {
    const char *path;
    std::vector<std::string> must_not_begin_with;
};

const SystemRule system_rules[] = {
    {"include/polytile", {"omp.h", "cuda", "nv"}},
    {"src/base", {"omp.h", "cuda", "nv", "isl/"}},
    {"src/access", {"omp.h", "cuda", "nv"}},
    {"src/partition", {"omp.h", "cuda", "nv", "isl/"}},
    {"src/launch", {"isl/"}},
    {"src/queue", {"omp.h", "cuda", "nv", "isl/"}},
    {"src/distribute", {"omp.h", "cuda", "nv", "isl/"}},
    {"src/program", {"omp.h", "cuda", "nv", "isl/"}},
    {"src/graph", {"omp.h", "cuda", "nv", "isl/"}},
    {"tools", {"omp.h", "cuda", "nv", "isl/"}},
    {"examples", {"isl/"}},
};

std::vector<fs::path> c_files_below(const fs::path &directory) {
    std::vector<fs::path> files;
    for (const auto &entry : fs::recursive_directory_iterator(directory))
        if (entry.path().extension() == ".c" || entry.path().extension() == ".h")
            files.push_back(entry.path());
    return files;
}

TEST(Architecture, RuntimesAndIslAreKnownWhereTheyBelong) {
    for (const SystemRule &rule : system_rules)
        for (const fs::path &file : c_files_below(root / rule.path))
            for (const Include &include : includes_of(file))
                EXPECT_FALSE(!include.is_quoted &&
                             begins_with_one_of(include.name, rule.must_not_begin_with))
                    << file << " must not include " << include.name;
}

TEST(Architecture, MpiIsOfDistributionAlone) {
    for (const char *directory : {"include", "src", "tools", "examples"})
        for (const fs::path &file : c_files_below(root / directory))
            for (const Include &include : includes_of(file))
                if (include.name == "mpi.h" && !include.is_quoted) {
                    EXPECT_TRUE(file == root / "include/polytile/mpi.h" ||
                                file.string().find("/src/distribute/mpi/") != std::string::npos)
                        << file;
                }
}

TEST(Architecture, ToolsAndExamplesUseThePublicHeadersAlone) {
    for (const char *directory : {"tools", "examples"})
        for (const fs::path &file : c_files_below(root / directory))
            for (const Include &include : includes_of(file))
                EXPECT_FALSE(include.is_quoted && include.name.rfind("../", 0) != 0 &&
                             fs::exists(root / "src" / include.name))
                    << file << " must not include " << include.name;
}

TEST(Architecture, TheScheduleCheckerKnowsNothingOfIslOrOfPlanners) {
    for (const std::string &file : source_files()) {
        if (!begins_with_one_of(room_of(file), {"partition/prove"}))
            continue;
        for (const Include &include : includes_of(root / "src" / file))
            EXPECT_FALSE(begins_with_one_of(include.name, {"isl/", "access/isl"}) ||
                         (include.is_quoted &&
                          !begins_with_one_of(room_of(include.name), {"partition/prove"}) &&
                          room_of(include.name) != "partition/schedule" &&
                          begins_with_one_of(include.name, {"partition/"})))
                << "src/" << file << " must not include " << include.name;
    }
}

/* A page for a room is the header to begin with: its first comment tells what the room is for. */
TEST(Rooms, HaveAFirstPageThatTellsWhatTheyAreFor) {
    for (const auto &[path, room] : rooms()) {
        const fs::path header = root / room.first_page;
        ASSERT_TRUE(fs::is_regular_file(header)) << path << ": " << header;
        std::ifstream stream(header);
        const std::string text((std::istreambuf_iterator<char>(stream)), {});
        if (room.first_page.rfind("src/", 0) != 0)
            continue;
        const size_t begin = text.find("/* " + path + ": "), end = text.find("*/", begin);
        ASSERT_NE(begin, std::string::npos) << header << " does not say \"/* " << path << ": \"";
        const int64_t n_lines = 1 + std::count(text.begin() + static_cast<int64_t>(begin),
                                               text.begin() + static_cast<int64_t>(end), '\n');
        EXPECT_LE(n_lines, 6) << header;
    }
}

} // namespace
