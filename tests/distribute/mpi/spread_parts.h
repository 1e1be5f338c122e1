#ifndef POLYTILE_TESTS_DISTRIBUTE_MPI_SPREAD_PARTS_H
#define POLYTILE_TESTS_DISTRIBUTE_MPI_SPREAD_PARTS_H

#include "distribute/mpi/joined.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern "C" {
#include "distribute/file/rounds.h"
#include "distribute/mpi/spread.h"
}

/* Arrays that are spread over the ranks without a queue, of elements that tell where they
 * belong. */

/** What to make of an array; the same on all ranks. */
struct SpreadShape {
    polytile_type type = POLYTILE_I32;
    std::vector<int64_t> extents = {5, 7};
    std::string layout = "block";
};

inline std::string random_layout(Random &random, int n_dims) {
    const std::string kinds[] = {"block", "cyclic(" + std::to_string(random.number(1, 4)) + ")",
                                 "block(dim=" + std::to_string(random.number(0, n_dims - 1)) + ")"};
    return kinds[random.number(0, 2)];
}

/** Up to 4 dimensions; often fewer elements along some than there are ranks. */
inline SpreadShape random_shape(Random &random) {
    SpreadShape shape;
    shape.type =
        static_cast<polytile_type>(random.one_of({POLYTILE_U8, POLYTILE_F32, POLYTILE_F64}));
    shape.extents.clear();
    for (int64_t d = random.number(1, 4); d > 0; d--)
        shape.extents.push_back(random.number(1, random.one_of({2, 6, 11})));
    shape.layout = random_layout(random, static_cast<int>(shape.extents.size()));
    return shape;
}

/** The elements of an array by their place in C order: bytes that differ from their neighbours'. */
inline std::vector<char> spread_elements(int64_t n_bytes) {
    std::vector<char> bytes(static_cast<size_t>(n_bytes));
    for (size_t k = 0; k < bytes.size(); k++)
        bytes[k] = static_cast<char>(1 + (k * 7 + k / 256 * 13) % 250);
    return bytes;
}

/** A rank's part, in memory of a box around it; it holds nothing but zeros. */
class Spread {
  public:
    Spread(const Joined &joined, const SpreadShape &shape) {
        const polytile_domain domain = polytile_domain_from_extents(
            static_cast<int>(shape.extents.size()), shape.extents.data());
        EXPECT_EQ(polytile_array_describe(joined.ctx, "u", shape.type, &domain, &array),
                  POLYTILE_OK);
        pti_distribution distribution;
        EXPECT_EQ(pti_distribution_parse(joined.ctx, shape.layout.c_str(), &distribution),
                  POLYTILE_OK);
        ownership = pti_ownership_of(&domain, world_size(), nullptr, &distribution);
        spread = pti_spread{joined.transport, array,
                            &ownership,       {domain, array->element_bytes, 0, 0, false, nullptr},
                            PTI_ROUND_BYTES,  PTI_ROUND_RUNS};
        add_owned();
    }
    ~Spread() {
        pti_store_free(&spread.store);
        polytile_array_destroy(array);
    }
    Spread(const Spread &) = delete;
    Spread &operator=(const Spread &) = delete;

    /** So that what a rank has takes a few rounds. */
    void limit_rounds(Random &random) {
        spread.round_bytes =
            std::max<int64_t>(1, array->n_bytes / world_size() / random.number(1, 2));
    }

    /** Put what this rank owns of all elements into its memory. */
    void set(const std::vector<char> &all) {
        each([&all](int64_t place, char *element, size_t n_bytes) {
            std::memcpy(element, all.data() + place * static_cast<int64_t>(n_bytes), n_bytes);
        });
    }

    /** Whether the memory holds what this rank owns of all elements, and else only zeros. */
    bool holds(const std::vector<char> &all) {
        const std::vector<char> found = memory;
        std::fill(memory.begin(), memory.end(), '\0');
        set(all);
        const bool is_same = found == memory;
        memory = found;
        return is_same;
    }

    bool is_untouched() const {
        return std::all_of(memory.begin(), memory.end(), [](char c) { return c == '\0'; });
    }

    polytile_array *array = nullptr;
    pti_ownership ownership = {};
    pti_spread spread = {};
    std::vector<char> memory;

  private:
    void add_owned() {
        pti_boxes owned = {};
        pti_ownership_boxes(&ownership, world_rank(), &owned);
        around_ = pti_ownership_hull(&ownership, world_rank());
        for (int d = 0; d < around_.n_dims && owned.n_boxes > 0; d++) {
            around_.range[d].lo -= (world_rank() + d) % 2;
            around_.range[d].hi += (world_rank() + d) % 3;
        }
        memory.resize(static_cast<size_t>(pti_box_count(&around_) * array->element_bytes));
        pti_store_add(&spread.store, &owned, &around_, memory.data());
        pti_boxes_free(&owned);
    }

    /** Every owned element, with its place in the array in C order. */
    template <class Visit> void each(const Visit &visit) {
        const polytile_domain &whole = array->domain;
        for (int64_t place = 0; place < pti_box_count(&whole); place++) {
            polytile_domain point = whole;
            int64_t rest = place, at = 0, factor = 1;
            for (int d = whole.n_dims - 1; d >= 0; d--) {
                const int64_t extent = pti_range_count(whole.range[d]), index = rest % extent;
                rest /= extent;
                point.range[d] = pti_range(index, index, 1);
                at += (index - around_.range[d].lo) * factor;
                factor *= pti_range_count(around_.range[d]);
            }
            for (int k = 0; k < spread.store.n_boxes; k++)
                if (pti_box_contains(&spread.store.box[k].box, &point))
                    visit(place, memory.data() + at * array->element_bytes,
                          static_cast<size_t>(array->element_bytes));
        }
    }

    polytile_domain around_ = {};
};

/** A directory that all ranks see, removed at the end. */
class SharedDirectory {
  public:
    SharedDirectory() {
        char name[] = "/tmp/polytile_mpi_XXXXXX";
        if (world_rank() == 0) {
            EXPECT_NE(mkdtemp(name), nullptr);
        }
        MPI_Request request;
        MPI_Ibcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD, &request);
        world_wait(&request);
        path = name;
    }
    ~SharedDirectory() {
        world_most(0);
        if (world_rank() == 0)
            std::filesystem::remove_all(path);
    }
    SharedDirectory(const SharedDirectory &) = delete;
    SharedDirectory &operator=(const SharedDirectory &) = delete;

    std::string file(const std::string &name) const { return (path / name).string(); }

    std::filesystem::path path;
};

inline std::string bytes_of(const std::string &file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

#endif
