#include "support/places.h"
#include "support/random.h"
#include "support/scale.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>
#include <string>

extern "C" {
#include "launch/tuning/json_line.h"
#include "launch/tuning/library.h"
#include "launch/tuning/table.h"
}

/* The reader of tuning tables, and which row fits. */

namespace {

struct Table {
    explicit Table(const std::string &text) {
        pti_text reason = {};
        status = pti_tuning_table_read(text.data(), text.size(), &table, &line, &reason);
        why = reason.data == nullptr ? "" : reason.data;
        pti_text_free(&reason);
    }
    ~Table() { pti_tuning_table_free(table); }
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    polytile_status status;
    pti_tuning_table *table = nullptr;
    int line = 0;
    std::string why;
};

const char *const head = "{\n"
                         "  \"version\": 1,\n"
                         "  \"architectures\": { \"hopper\": [\"9.0\"], \"kepler\": [\"3.0\", "
                         "\"3.5\"] },\n"
                         "  \"rows\": [\n";

/** A table with rows from line 5 on. */
std::string with_rows(const std::string &rows) {
    return head + rows + "\n  ]\n}\n";
}

std::string library_text() {
    return {reinterpret_cast<const char *>(pti_tuning_library_text), pti_tuning_library_bytes};
}

pti_tuning_query ask(const char *kernel, int capability, int n_indices,
                     polytile_character character = {}) {
    return {kernel, pti_traits_of(&character), capability, n_indices};
}

std::string block_of(const pti_tuning_row *row) {
    std::string text = row == nullptr ? "none" : "";
    for (int d = 0; row != nullptr && d < row->n_dims; d++)
        text += (d == 0 ? "" : "x") + std::to_string(row->block[d]);
    return text;
}

/** The table that docs/tuning.md shows. */
std::string table_of_the_page() {
    std::ostringstream page;
    page << std::ifstream(in_source("docs/tuning.md")).rdbuf();
    const std::string text = page.str(), fence = "```json\n";
    const size_t begin = text.find(fence) + fence.size();
    return text.substr(begin, text.find("```", begin) - begin);
}

TEST(TuningTable, OfThePageIsValid) {
    Table read(table_of_the_page());
    ASSERT_EQ(read.status, POLYTILE_OK) << read.line << ": " << read.why;
    EXPECT_EQ(read.table->n_rows, 2);
}

TEST(TuningTable, OfTheLibraryIsTheFileAndIsValid) {
    std::ostringstream file;
    file << std::ifstream(in_source("data/tuning.json")).rdbuf();
    EXPECT_EQ(library_text(), file.str());
    Table read(library_text());
    ASSERT_EQ(read.status, POLYTILE_OK) << read.line << ": " << read.why;
    EXPECT_GT(read.table->n_rows, 9);
}

TEST(TuningTable, OfTheLibraryHasTheValuesOfThePapers) {
    Table read(library_text());
    ASSERT_EQ(read.status, POLYTILE_OK);
    const polytile_character relax = {POLYTILE_COALESCING_SCATTER,
                                      POLYTILE_LEVEL_LOW,
                                      POLYTILE_LEVEL_HIGH,
                                      POLYTILE_LEVEL_LOW,
                                      {}};
    const polytile_character minimum = {POLYTILE_COALESCING_FULL,
                                        POLYTILE_LEVEL_LOW,
                                        POLYTILE_LEVEL_LOW,
                                        POLYTILE_LEVEL_MEDIUM,
                                        {}};
    const struct {
        polytile_character character;
        int capability;
        const char *block;
    } rows[] = {{relax, 13, "256"},   {relax, 20, "96"},    {relax, 35, "64"},
                {minimum, 13, "128"}, {minimum, 20, "192"}, {minimum, 30, "128"},
                {{}, 20, "256"},      {{}, 35, "256"},      {{}, 90, "none"}};
    for (const auto &row : rows) {
        const pti_tuning_query query = ask("k", row.capability, 1, row.character);
        EXPECT_EQ(block_of(pti_tuning_table_find(read.table, &query)), row.block) << row.capability;
    }
}

TEST(TuningTable, IsReadWhole) {
    Table read(with_rows("{\"kernel\": \"heat\", \"architecture\": \"kepler\", \"coalescing\": "
                         "\"medium\", \"arithmetic\": \"none\", \"evictions\": \"high\", "
                         "\"reuse\": \"def\", \"block\": [2, 4, 32], \"cache\": \"l1\", "
                         "\"coarsening\": 4, "
                         "\"source\": \"a dream\"}"));
    ASSERT_EQ(read.status, POLYTILE_OK) << read.why;
    ASSERT_EQ(read.table->n_rows, 1);
    const pti_tuning_row &row = read.table->row[0];
    EXPECT_STREQ(row.kernel, "heat");
    EXPECT_STREQ(read.table->architecture[row.architecture].name, "kepler");
    EXPECT_EQ(row.traits.level[PTI_COALESCING], POLYTILE_COALESCING_MEDIUM);
    EXPECT_EQ(row.traits.level[PTI_ARITHMETIC], POLYTILE_LEVEL_NONE);
    EXPECT_EQ(row.traits.level[PTI_EVICTIONS], POLYTILE_LEVEL_HIGH);
    EXPECT_EQ(row.traits.level[PTI_REUSE], POLYTILE_LEVEL_DEF);
    EXPECT_EQ(block_of(&row), "2x4x32");
    EXPECT_EQ(row.cache, PTI_CACHE_L1);
    EXPECT_EQ(row.coarsening, 4);
}

TEST(TuningTable, GivesTheRowThatSaysMost) {
    Table read(with_rows(
        "{\"architecture\": \"hopper\", \"block\": [64]},\n"
        "{\"architecture\": \"hopper\", \"coalescing\": \"full\", \"block\": [128]},\n"
        "{\"architecture\": \"hopper\", \"coalescing\": \"full\", \"block\": [4, 32]},\n"
        "{\"architecture\": \"hopper\", \"coalescing\": \"full\", \"reuse\": \"low\", \"block\": "
        "[256]},\n"
        "{\"architecture\": \"kepler\", \"coalescing\": \"full\", \"block\": [512]},\n"
        "{\"kernel\": \"add\", \"architecture\": \"hopper\", \"block\": [1024]},\n"
        "{\"kernel\": \"mul\", \"architecture\": \"hopper\", \"reuse\": \"high\", \"block\": "
        "[32]}"));
    ASSERT_EQ(read.status, POLYTILE_OK) << read.why;
    const polytile_character full = {POLYTILE_COALESCING_FULL, {}, {}, {}, {}};
    const polytile_character full_low = {
        POLYTILE_COALESCING_FULL, POLYTILE_LEVEL_HIGH, {}, POLYTILE_LEVEL_LOW, {}};
    const polytile_character scatter = {POLYTILE_COALESCING_SCATTER, {}, {}, {}, {}};
    const struct {
        const char *why;
        pti_tuning_query query;
        const char *block;
    } rows[] = {
        {"nothing is known", ask("k", 90, 1), "64"},
        {"a trait that no row has", ask("k", 90, 1, scatter), "64"},
        {"one trait", ask("k", 90, 1, full), "128"},
        {"one trait, two indices", ask("k", 90, 2, full), "4x32"},
        {"one trait, three indices", ask("k", 90, 3, full), "128"},
        {"two traits before the dimensions", ask("k", 90, 2, full_low), "256"},
        {"another architecture", ask("k", 35, 1, full), "512"},
        {"nothing for that architecture", ask("k", 35, 1), "none"},
        {"no such architecture", ask("k", 80, 1, full), "none"},
        {"a name before traits", ask("add", 90, 1, full_low), "1024"},
        {"a name, but other traits", ask("mul", 90, 1), "64"},
    };
    for (const auto &row : rows)
        EXPECT_EQ(block_of(pti_tuning_table_find(read.table, &row.query)), row.block) << row.why;
}

TEST(TuningTable, IsRefusedWithLineAndReason) {
    const std::string row = "{\"architecture\": \"hopper\", \"block\": [32]}";
    const std::string open = "{\"architecture\": \"hopper\",\n\"block\": [32],\n";
    std::string many = row;
    for (int k = 0; k < PTI_TUNING_MAX_ROWS; k++)
        many += ",\n" + row;
    const struct {
        std::string text;
        int line;
        const char *reason;
    } rows[] = {
        {"", 1, "'[' or '{' expected"},
        {"{\n\"version\": 1,\n", 3, "expected"},
        {"{\n\"version\": 1,\n\"version\": 1}", 3, "duplicate object key"},
        {std::string("{\"version\":\n 1\0}", 16), 2, "NUL byte"},
        {"[1]", 1, "the table is not an object"},
        {"{}", 1, "the table has no \"version\""},
        {"{\"version\": 1}", 1, "no \"architectures\""},
        {"{\"version\": 1, \"architectures\": {}}", 1, "no \"rows\""},
        {"{\"architectures\": {},\n\"rows\": [],\n\"version\": 2}", 3, "\"version\" is not 1"},
        {"{\"architectures\": {},\n\"version\": 1.0,\"rows\": []}", 2, "\"version\" is not 1"},
        {"{\"version\": 1, \"architectures\": {},\n\"rows\": [],\n\"Rows\": []}", 3,
         "cannot have a \"Rows\""},
        {"{\"version\": 1,\n\"architectures\": [], \"rows\": []}", 2, "not an object"},
        {"{\"version\": 1, \"architectures\": {\n\"a\": \"9.0\"}, \"rows\": []}", 2,
         "\"a\" is not an array"},
        {"{\"version\": 1, \"architectures\": {\n\"a\": []}, \"rows\": []}", 2,
         "\"a\" has 0 elements"},
        {"{\"version\": 1, \"architectures\": {\n\"\": [\"9.0\"]}, \"rows\": []}", 2, "0 bytes"},
        {"{\"version\": 1, \"architectures\": {\"a\": [\"8.0\",\n9.0]}, \"rows\": []}", 2,
         "not a string such as"},
        {"{\"version\": 1, \"architectures\": {\"a\": [\"8.0\",\n\"9\"]}, \"rows\": []}", 2,
         "not a string such as"},
        {"{\"version\": 1, \"architectures\": {\"a\": [\"8.0\",\n\"123.0\"]}, \"rows\": []}", 2,
         "not a string such as"},
        {"{\"version\": 1, \"architectures\": {\"a\": [\"8.0\",\n\"09.0\"]}, \"rows\": []}", 2,
         "not a string such as"},
        {"{\"version\": 1, \"architectures\": {\"a\": [\"8.0\"],\n\"b\": [\"8.0\"]}, \"rows\": []}",
         2, "8.0 is one of \"a\" already"},
        {"{\"version\": 1, \"architectures\": {},\n\"rows\": {}}", 2, "\"rows\" is not an array"},
        {with_rows("7"), 5, "a row is not an object"},
        {with_rows("{\"block\": [32]}"), 5, "a row has no \"architecture\""},
        {with_rows("{\"architecture\": \"hopper\"}"), 5, "a row has no \"block\""},
        {with_rows("{\"architecture\": \"volta\", \"block\": [32]}"), 5, "\"volta\" is none of"},
        {with_rows("{\"architecture\": 9, \"block\": [32]}"), 5, "not a string"},
        {with_rows(open + "\"blocks\": 1}"), 7, "cannot have a \"blocks\""},
        {with_rows(open + "\"bl\\nocks\": 1}"), 5, "cannot have a \"bl?ocks\""},
        {with_rows(open + "\"coalescing\": \"fulll\"}"), 7,
         "is \"fulll\"; it may be def, full, medium or scatter"},
        {with_rows(open + "\"arithmetic\": 3}"), 7,
         "is no string; it may be def, none, low, medium or high"},
        {with_rows(open + "\"evictions\": \"\"}"), 7, "is \"\""},
        {with_rows(open + "\"reuse\": null}"), 7, "\"reuse\" is no string"},
        {with_rows(open + "\"cache\": \"L1\"}"), 7, "none, shared, l1 or equal"},
        {with_rows(open + "\"coarsening\": 0}"), 7, "no whole number from 1 to 64"},
        {with_rows(open + "\"coarsening\": 65}"), 7, "no whole number from 1 to 64"},
        {with_rows(open + "\"coarsening\": \"4\"}"), 7, "no whole number from 1 to 64"},
        {with_rows(open + "\"kernel\": \"\"}"), 7, "1 to 63"},
        {with_rows(open + "\"kernel\": \"" + std::string(64, 'k') + "\"}"), 7, "has 64 bytes"},
        {with_rows(open + "\"source\": \"" + std::string(513, 's') + "\"}"), 7, "has 513 bytes"},
        {with_rows(open + "\"source\": []}"), 7, "\"source\" is not a string"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": []}"), 6, "array of 1 to 3"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": 32}"), 6, "array of 1 to 3"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": [1,1,1,1]}"), 6, "array of 1 to 3"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n0]}"), 6, "is 0; it may be 1"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n-4]}"), 6, "is -4"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n1025]}"), 6, "is 1025"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n32.0]}"), 6, "whole number"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n\"32\"]}"), 6, "whole number"},
        {with_rows("{\"architecture\": \"hopper\", \"block\": [1,\n99999999999999999999]}"), 6,
         "too big"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": [64, 32]}"), 6,
         "has 2048 threads; it may have 1024"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": [1024, 1024, 1024]}"), 6,
         "1073741824 threads"},
        {with_rows("{\"architecture\": \"hopper\",\n\"block\": [128, 1, 8]}"), 6,
         "128 threads along the first"},
        {with_rows(row + ",\n" + row), 6, "as row 1"},
        {with_rows(many), 4, "\"rows\" has 1025 elements"},
        {with_rows(std::string(3000, '[') + std::string(3000, ']')), 5, "depth"},
    };
    for (const auto &refused : rows) {
        Table read(refused.text);
        const std::string shown = refused.text.substr(0, 300);
        EXPECT_EQ(read.status, POLYTILE_INVALID) << shown;
        EXPECT_EQ(read.table, nullptr);
        EXPECT_EQ(read.line, refused.line) << read.why << "\n" << shown;
        EXPECT_NE(read.why.find(refused.reason), std::string::npos) << read.why << "\n" << shown;
    }
}

/** Of a table that was taken, whatever its text, all rows can be used. */
void expect_usable(const pti_tuning_table *table) {
    for (int k = 0; k < table->n_rows; k++) {
        const pti_tuning_row &row = table->row[k];
        int64_t n_threads = 1;
        for (int d = 0; d < row.n_dims; d++)
            n_threads *= row.block[d];
        EXPECT_GE(n_threads, 1);
        EXPECT_LE(n_threads, PTI_TUNING_MAX_BLOCK_THREADS);
        EXPECT_GE(row.architecture, 0);
        EXPECT_LT(row.architecture, table->n_architectures);
    }
}

TEST(TuningTable, SurvivesAnyCorruption) {
    Random random(test_seed("TuningTable.SurvivesAnyCorruption"));
    const std::string valid = library_text();
    const std::string inserts = "\"{}[]:,0129.-\\ \nnul";
    int64_t n_refused = 0, n_lines = 1;
    const int64_t n_rounds = scaled(4000);
    for (const char c : valid)
        n_lines += c == '\n';
    for (int64_t round = 0; round < n_rounds; round++) {
        std::string text = valid;
        for (int64_t k = random.number(1, 3); k > 0; k--) {
            const size_t at =
                static_cast<size_t>(random.number(0, static_cast<int64_t>(text.size()) - 1));
            const size_t length = static_cast<size_t>(random.number(1, random.one_of({1, 1, 200})));
            const char with = random.chance(50)
                                  ? static_cast<char>(random.number(0, 255))
                                  : inserts[static_cast<size_t>(random.number(
                                        0, static_cast<int64_t>(inserts.size()) - 1))];
            switch (random.number(0, 3)) {
            case 0:
                text[at] = with;
                break;
            case 1:
                text.insert(at, 1, with);
                break;
            case 2:
                text.erase(at, length);
                break;
            default:
                text.insert(at, text.substr(at, length));
                break;
            }
            if (text.empty())
                text = " ";
        }
        Table read(text);
        n_refused += read.status != POLYTILE_OK;
        if (read.status == POLYTILE_OK) {
            expect_usable(read.table);
        } else {
            EXPECT_EQ(read.status, POLYTILE_INVALID);
            EXPECT_GE(read.line, 1);
            EXPECT_LE(read.line, 2 * n_lines);
            EXPECT_FALSE(read.why.empty());
        }
    }
    EXPECT_GE(n_refused, least_count(n_rounds, 0.8));
}

TEST(JsonLine, FindsMembersAndElements) {
    const std::string text = "\n{ \"a\": [1,\n [2, \"]\\\"\"],\n {\"b\":\n true, \"c\":\n []} ],\n"
                             "\"d\": {\"a\": \"{\",\n\"e\": null} }";
    const struct {
        std::vector<pti_json_step> steps;
        int line;
    } rows[] = {
        {{}, 1},
        {{{"a", 0}}, 2},
        {{{"a", 0}, {nullptr, 0}}, 2},
        {{{"a", 0}, {nullptr, 1}}, 3},
        {{{"a", 0}, {nullptr, 2}}, 4},
        {{{"a", 0}, {nullptr, 2}, {"b", 0}}, 4},
        {{{"a", 0}, {nullptr, 2}, {"c", 0}}, 5},
        {{{"a", 0}, {nullptr, 3}}, 2},
        {{{"d", 0}, {"e", 0}}, 8},
        {{{"d", 0}, {"f", 0}}, 7},
        {{{"d", 0}, {nullptr, 0}}, 7},
        {{{"none", 0}, {"e", 0}}, 1},
    };
    for (const auto &row : rows)
        EXPECT_EQ(pti_json_line(text.data(), text.size(), row.steps.data(),
                                static_cast<int>(row.steps.size())),
                  row.line)
            << "row " << &row - rows;
}

TEST(JsonLine, TakesAnyText) {
    Random random(test_seed("JsonLine.TakesAnyText"));
    const std::string alphabet = "{}[]\",:\\ab\n 1";
    for (int64_t round = 0; round < scaled(20000); round++) {
        std::string text;
        for (int64_t k = random.number(0, 30); k > 0; k--)
            text += alphabet[static_cast<size_t>(
                random.number(0, static_cast<int64_t>(alphabet.size()) - 1))];
        std::vector<pti_json_step> steps;
        for (int k = 0; k < 4; k++)
            steps.push_back(random.chance(50) ? pti_json_step{"a", 0} : pti_json_step{nullptr, 1});
        const int line = pti_json_line(text.data(), text.size(), steps.data(), 4);
        EXPECT_GE(line, 1);
        EXPECT_LE(line, 31);
    }
}

} // namespace
