#include "architecture/rooms.h"
#include "support/places.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>

namespace architecture {

namespace {

const fs::path root = in_source("");

std::string trimmed(const std::string &text) {
    const char *blanks = " `\t";
    const size_t begin = text.find_first_not_of(blanks);
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::vector<std::string> split(const std::string &text, char mark) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, mark);)
        parts.push_back(trimmed(part));
    return parts;
}

Room room_of_row(const std::vector<std::string> &cells) {
    Room room = {cells[1], cells[3], {}};
    for (const std::string &used : split(cells[4], ','))
        if (!used.empty())
            room.uses.insert(used);
    return room;
}

/* The quotes or angle brackets of an #include line and what is between them; empty for any
 * other. */
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

std::string relative_to_src(const fs::path &file) {
    return fs::relative(file, root / "src").generic_string();
}

/* The source of an object file, by where CMake puts it. */
std::string source_of_object(const std::string &object) {
    const std::pair<std::string, std::string> places[] = {
        {"/polytile_mpi_objects.dir/", "distribute/mpi/"},
        {"/polytile_compile_objects.dir/", "compile/"},
        {"/polytile_objects.dir/", ""}};
    for (const auto &[mark, folder] : places) {
        const size_t at = object.find(mark);
        if (at != std::string::npos)
            return folder + object.substr(at + mark.size(), object.rfind('.') - at - mark.size());
    }
    return "";
}

std::vector<std::string> object_files() {
    std::vector<std::string> objects;
    std::error_code is_missing;
    for (const auto &entry : fs::recursive_directory_iterator(in_build("src"), is_missing)) {
        const std::string source = source_of_object(entry.path().generic_string());
        if (entry.path().extension() == ".o" && !source.empty() &&
            fs::exists(root / "src" / source))
            objects.push_back(entry.path().generic_string());
    }
    return objects;
}

/* nm's lines for all objects: "OBJECT: ADDRESS KIND SYMBOL", the address left out if undefined. */
std::vector<std::string> symbol_lines() {
    std::string command = POLYTILE_NM " -A -g";
    for (const std::string &object : object_files())
        command += " '" + object + "'";
    std::vector<std::string> lines;
    const std::unique_ptr<FILE, int (*)(FILE *)> pipe(popen(command.c_str(), "r"), pclose);
    char line[4096];
    while (pipe != nullptr && fgets(line, sizeof line, pipe.get()) != nullptr)
        lines.push_back(line);
    return lines;
}

struct Symbol {
    std::string file;
    std::string name;
    bool is_defined;
};

Symbol symbol_of_line(const std::string &line) {
    const size_t colon = line.find(".o:");
    std::istringstream words(line.substr(colon + 3));
    std::vector<std::string> word;
    for (std::string one; words >> one;)
        word.push_back(one);
    return {source_of_object(line.substr(0, colon + 2)), word.back(), word[word.size() - 2] != "U"};
}

/* One search for strongly connected components, by Tarjan (1972). */
class CircleSearch {
  public:
    explicit CircleSearch(const std::map<std::string, std::set<std::string>> &arrows)
        : arrows_(arrows) {
        for (const auto &[node, targets] : arrows_)
            if (number_.count(node) == 0)
                visit(node);
    }

    std::vector<std::set<std::string>> circles;

  private:
    void visit(const std::string &node) {
        number_[node] = lowest_[node] = static_cast<int>(number_.size());
        stack_.push_back(node);
        is_on_stack_.insert(node);
        const auto found = arrows_.find(node);
        if (found != arrows_.end())
            for (const std::string &target : found->second)
                follow(node, target);
        if (lowest_[node] == number_[node])
            take_circle(node);
    }

    void follow(const std::string &node, const std::string &target) {
        if (number_.count(target) == 0) {
            visit(target);
            lowest_[node] = std::min(lowest_[node], lowest_[target]);
        } else if (is_on_stack_.count(target) != 0) {
            lowest_[node] = std::min(lowest_[node], number_[target]);
        }
    }

    void take_circle(const std::string &node) {
        std::set<std::string> circle;
        std::string last;
        do {
            last = stack_.back();
            stack_.pop_back();
            is_on_stack_.erase(last);
            circle.insert(last);
        } while (last != node);
        if (circle.size() > 1)
            circles.push_back(circle);
    }

    const std::map<std::string, std::set<std::string>> &arrows_;
    std::map<std::string, int> number_, lowest_;
    std::vector<std::string> stack_;
    std::set<std::string> is_on_stack_;
};

} // namespace

std::map<std::string, Room> rooms_of_page(const fs::path &page) {
    std::map<std::string, Room> rooms;
    std::ifstream stream(page);
    bool is_table = false;
    for (std::string line; std::getline(stream, line);) {
        if (line.rfind("| room |", 0) == 0)
            is_table = true;
        else if (line.empty())
            is_table = false;
        else if (is_table && line.rfind("| `", 0) == 0) {
            const Room room = room_of_row(split(line, '|'));
            rooms[room.path] = room;
        }
    }
    return rooms;
}

std::string room_of(const std::string &file) {
    const std::set<std::string> variants = {"gmp",     "no_gmp", "no_cuda",  "no_loop",
                                            "no_nvtx", "x86_64", "no_x86_64"};
    fs::path folder = fs::path(file).parent_path();
    if (variants.count(folder.filename().string()) != 0)
        folder = folder.parent_path();
    return folder.generic_string();
}

std::vector<std::string> source_files() {
    std::vector<std::string> files;
    for (const auto &entry : fs::recursive_directory_iterator(root / "src"))
        if (entry.path().extension() == ".c" || entry.path().extension() == ".h")
            files.push_back(relative_to_src(entry.path()));
    return files;
}

std::vector<Include> includes_of(const fs::path &file) {
    std::vector<Include> includes;
    std::ifstream stream(file);
    for (std::string line; std::getline(stream, line);) {
        const std::string included = included_by(line);
        if (included.empty())
            continue;
        std::string name = included.substr(1);
        if (included[0] == '"' && fs::exists(file.parent_path() / name))
            name = relative_to_src(file.parent_path() / name);
        includes.push_back({relative_to_src(file), included[0] == '"', name});
    }
    return includes;
}

bool has_objects() {
    return !object_files().empty();
}

std::vector<Use> uses_by_objects() {
    std::vector<Symbol> symbols;
    std::map<std::string, std::string> definer;
    for (const std::string &line : symbol_lines()) {
        symbols.push_back(symbol_of_line(line));
        if (symbols.back().is_defined)
            definer[symbols.back().name] = symbols.back().file;
    }
    std::vector<Use> uses;
    for (const Symbol &symbol : symbols) {
        const auto found = definer.find(symbol.name);
        if (!symbol.is_defined && found != definer.end())
            uses.push_back({symbol.file, symbol.name, found->second});
    }
    return uses;
}

std::vector<std::set<std::string>>
find_circles(const std::map<std::string, std::set<std::string>> &arrows) {
    return CircleSearch(arrows).circles;
}

} // namespace architecture
