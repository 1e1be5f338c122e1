#ifndef POLYTILE_TESTS_PARTITION_BOUND_PEBBLES_H
#define POLYTILE_TESTS_PARTITION_BOUND_PEBBLES_H

#include <cstdint>
#include <vector>

/**
 * The red-blue pebble game of C = A B with 2 x 2 matrices, by search over all its positions: which
 * elements are in fast memory, and which of the 8 multiplications are done.
 *
 * Source  Hong and Kung 1981.
 */
class Pebbles {
  public:
    int64_t memory = 0;
    bool starts = false;          /* C need not be there before its first multiplication */
    int64_t bytes[3] = {1, 1, 1}; /* of an element of A, B, C */

    /** The fewest bytes that come in; an element of C that starts in memory counts started_bytes.
     */
    int64_t fewest_bytes(int64_t started_bytes) const {
        std::vector<std::vector<uint32_t>> reached(1, {0});
        std::vector<bool> is_left(1u << (N_ELEMENTS + N_PRODUCTS), false);
        for (size_t cost = 0; cost < reached.size(); cost++)
            for (size_t at = 0; at < reached[cost].size(); at++) {
                const uint32_t position = reached[cost][at];
                if (position >> N_ELEMENTS == (1u << N_PRODUCTS) - 1)
                    return static_cast<int64_t>(cost);
                if (is_left[position])
                    continue;
                is_left[position] = true;
                for (int e = 0; e < N_ELEMENTS; e++)
                    move(position, e, cost, started_bytes, &reached);
            }
        return -1;
    }

  private:
    enum { N_ELEMENTS = 12, N_PRODUCTS = 8 };

    static int element_of(int array, int row, int column) { return 4 * array + 2 * row + column; }

    /** The elements of product i, j, k = bits 2, 1, 0. */
    static uint32_t elements_of(int product) {
        const int i = product >> 2 & 1, j = product >> 1 & 1, k = product & 1;
        return 1u << element_of(0, i, k) | 1u << element_of(1, k, j) | 1u << element_of(2, i, j);
    }

    /** Whether a product that adds to an element of C is done. */
    static bool is_begun(uint32_t position, int element) {
        for (int p = 0; p < N_PRODUCTS; p++)
            if ((elements_of(p) >> element & 1) != 0 && (position >> (N_ELEMENTS + p) & 1) != 0)
                return true;
        return false;
    }

    int64_t bytes_in_memory(uint32_t position) const {
        int64_t sum = 0;
        for (int e = 0; e < N_ELEMENTS; e++)
            sum += (position >> e & 1) != 0 ? bytes[e / 4] : 0;
        return sum;
    }

    /** All products that can be done are: it costs nothing and takes no memory. */
    static uint32_t multiply(uint32_t position) {
        for (int p = 0; p < N_PRODUCTS; p++)
            if ((position & elements_of(p)) == elements_of(p))
                position |= 1u << (N_ELEMENTS + p);
        return position;
    }

    /** Drop an element that is in memory, else bring it in. */
    void move(uint32_t position, int element, size_t cost, int64_t started_bytes,
              std::vector<std::vector<uint32_t>> *reached) const {
        const uint32_t next = position ^ 1u << element;
        const bool comes = (next >> element & 1) != 0;
        if (comes && bytes_in_memory(next) > memory)
            return;
        const bool is_started = starts && element / 4 == 2 && !is_begun(position, element);
        const int64_t moved = !comes ? 0 : is_started ? started_bytes : bytes[element / 4];
        const size_t total = cost + static_cast<size_t>(moved);
        if (total >= reached->size())
            reached->resize(total + 1);
        (*reached)[total].push_back(multiply(next));
    }
};

#endif
