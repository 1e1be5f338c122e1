#include "support/fake_cuda.h"

#include <algorithm>
#include <cstring>

/* Kernels that run several launches as one, tile by tile: the host functions run over tiles that
 * hold nothing but what the kernel loads. */

namespace {

constexpr size_t default_shared_bytes = 48 << 10;
constexpr int64_t n_columns = POLYTILE_TILE_COLUMNS;

using Box = polytile_tile_box;

int64_t count(const Box &box, int dim) {
    return box.hi[dim] - box.lo[dim] + 1;
}

Box intersect(Box one, const Box &other) {
    for (int d = 0; d < 2; d++) {
        one.lo[d] = std::max(one.lo[d], other.lo[d]);
        one.hi[d] = std::min(one.hi[d], other.hi[d]);
    }
    return one;
}

bool is_empty(const Box &box) {
    return count(box, 0) < 1 || count(box, 1) < 1;
}

bool has(const Box &box, int64_t i, int64_t j) {
    return i >= box.lo[0] && i <= box.hi[0] && j >= box.lo[1] && j <= box.hi[1];
}

polytile_domain domain_of(const Box &box) {
    return {2, {{box.lo[0], box.hi[0], 1}, {box.lo[1], box.hi[1], 1}}};
}

/** One tile with its border, of one array. */
class Image {
  public:
    Image(const Box &box, int64_t element_bytes)
        : box_(box), element_bytes_(element_bytes),
          bytes_(static_cast<size_t>(count(box, 0) * count(box, 1) * element_bytes), '\xa5') {}

    /** A view of this memory for a role. */
    polytile_view show_as(const polytile_tile_role &role) {
        polytile_view view = {};
        view.resident = domain_of(role.resident);
        view.stride_bytes[0] = count(box_, 1) * element_bytes_;
        view.stride_bytes[1] = element_bytes_;
        view.origin = at(0, 0);
        for (int d = 0; d < 2; d++) {
            view.array_first[d] = role.whole.lo[d];
            view.array_last[d] = role.whole.hi[d];
        }
        return view;
    }

    /** Load some of its elements. */
    void load(const polytile_tile_array &array, const Box &part, const Box &threads) {
        for (int64_t i = part.lo[0]; i <= part.hi[0]; i++)
            for (int64_t j = part.lo[1]; j <= part.hi[1]; j++) {
                const bool is_written = has(threads, i, j);
                if (is_written && array.is_loaded == 0)
                    continue;
                if (has(array.resident, i, j))
                    std::memcpy(at(i, j), element_at(is_written ? array.begun : array.kept, i, j),
                                n_bytes());
                else if (has(array.resident_beyond, i, j))
                    std::memcpy(at(i, j), element_at(array.beyond, i, j), n_bytes());
            }
    }

    void store(const polytile_tile_array &array, const Box &box) {
        for (int64_t i = box.lo[0]; i <= box.hi[0]; i++)
            for (int64_t j = box.lo[1]; j <= box.hi[1]; j++)
                std::memcpy(element_at(array.made, i, j), at(i, j), n_bytes());
    }

  private:
    size_t n_bytes() const { return static_cast<size_t>(element_bytes_); }

    char *at(int64_t i, int64_t j) {
        return bytes_.data() +
               ((i - box_.lo[0]) * count(box_, 1) + j - box_.lo[1]) * element_bytes_;
    }

    char *element_at(const polytile_tile_memory &memory, int64_t i, int64_t j) const {
        return static_cast<char *>(memory.origin) + i * memory.row_bytes + j * element_bytes_;
    }

    Box box_;
    int64_t element_bytes_;
    std::vector<char> bytes_;
};

/** Own rows or columns of a tile. */
int64_t own_extent(const polytile_tiles &of, int dim) {
    return (dim == 0 ? of.n_rows : n_columns) - of.n_launches * (of.before[dim] + of.after[dim]);
}

int64_t n_tiles_along(const polytile_tiles &of, int dim) {
    const int64_t own = own_extent(of, dim);
    return (count(of.own, dim) + own - 1) / own;
}

/** A tile with its border; the last rows are left out where there is nothing. */
Box box_of(const polytile_tiles &of, int64_t down, int64_t across) {
    const int64_t i = of.own.lo[0] + down * own_extent(of, 0) - of.n_launches * of.before[0];
    const int64_t j = of.own.lo[1] + across * own_extent(of, 1) - of.n_launches * of.before[1];
    const int64_t n_left = of.own.hi[0] - i + 1 + of.n_launches * of.after[0];
    return {{i, j}, {i + std::min<int64_t>(of.n_rows, n_left) - 1, j + n_columns - 1}};
}

/** The part of a tile that is left after so many launches, in a box of threads. */
Box part_of(const polytile_tiles &of, const Box &threads, const Box &box, int n_done) {
    Box part = box;
    for (int d = 0; d < 2; d++) {
        part.lo[d] += n_done * of.before[d];
        part.hi[d] -= n_done * of.after[d];
    }
    return intersect(part, threads);
}

/** What of a box lies within another one, also where it goes round that along a dimension. */
std::vector<Box> go_round(std::vector<Box> boxes, const Box &round) {
    for (int d = 0; d < 2; d++) {
        std::vector<Box> cut;
        const int64_t extent = count(round, d);
        for (const Box &box : boxes)
            for (const int64_t turn : {-extent, int64_t{0}, extent}) {
                Box moved = box;
                moved.lo[d] = std::max(box.lo[d] + turn, round.lo[d]);
                moved.hi[d] = std::min(box.hi[d] + turn, round.hi[d]);
                if (!is_empty(moved))
                    cut.push_back(moved);
            }
        boxes = cut;
    }
    return boxes;
}

/** What a tile's image is of: the tile, or all along a dimension round which it goes. */
Box image_box_of(const Box &box, const Box &round) {
    Box made = box;
    for (int d = 0; d < 2; d++)
        if (box.lo[d] < round.lo[d] || box.hi[d] > round.hi[d]) {
            made.lo[d] = round.lo[d];
            made.hi[d] = round.hi[d];
        }
    return made;
}

/** An array as a kernel finds it in device memory. */
polytile_view view_of(const polytile_tile_array &array, const polytile_tile_memory &memory,
                      const Box &box, int64_t element_bytes) {
    polytile_view view = {};
    view.origin = memory.origin;
    view.stride_bytes[0] = memory.row_bytes;
    view.stride_bytes[1] = element_bytes;
    view.resident = domain_of(intersect(array.resident, box));
    return view;
}

} // namespace

cudaError_t FakeCuda::launch_tiles(const polytile_implementation &implementation, dim3 grid,
                                   dim3 block, void **arguments, size_t shared_bytes,
                                   Stream *stream) {
    Tiles tiles = {implementation, *static_cast<const polytile_tiles *>(arguments[0]), {}};
    const auto allowed = shared_bytes_.find(implementation.cuda_tiles);
    const size_t allowed_bytes =
        allowed == shared_bytes_.end() ? default_shared_bytes : allowed->second;
    const auto needed = static_cast<size_t>(tiles.of.n_arrays * tiles.of.n_rows * n_columns *
                                            implementation.views[0].element_bytes);
    if (shared_bytes > allowed_bytes)
        return cudaErrorInvalidValue;
    if (shared_bytes < needed || block.x != POLYTILE_TILE_THREADS || block.y != 1 || block.z != 1)
        violate("a tile kernel gets other shared memory, or another block, than it needs");
    if (tiles.of.n_launches > POLYTILE_TILE_LAUNCHES || tiles.of.n_phases < 1 ||
        tiles.of.n_arrays > POLYTILE_TILE_ARRAYS || tiles.of.n_phases > POLYTILE_TILE_ARRAYS)
        violate("a tile kernel gets more launches, arrays or phases than it takes");
    for (int d = 0; d < 2; d++)
        if (count(tiles.of.round, d) < (d == 0 ? tiles.of.n_rows : n_columns))
            violate("a tile has elements of a periodic array twice");
    for (int d = 0; d < 2; d++)
        if (own_extent(tiles.of, d) < 1 ||
            static_cast<int64_t>(d == 0 ? grid.y : grid.x) != n_tiles_along(tiles.of, d))
            violate("a tile kernel gets another grid than its tiles are");
    for (int l = 0; l < tiles.of.n_launches; l++) {
        tiles.values.emplace_back();
        for (int p = 0; p < implementation.n_parameters; p++) {
            const auto n_bytes = static_cast<size_t>(implementation.parameters[p].bytes);
            tiles.values.back().push_back(0);
            std::memcpy(&tiles.values.back().back(),
                        static_cast<const char *>(arguments[1 + p]) +
                            static_cast<size_t>(l) * n_bytes,
                        n_bytes);
        }
    }
    n_tile_launches_++;
    n_tiled_ += tiles.of.n_launches;
    submit(stream, [this, tiles] { run_tiles(tiles); });
    return cudaSuccess;
}

/** All tiles, from the last one on. */
void FakeCuda::run_tiles(const Tiles &tiles) {
    const polytile_tiles &of = tiles.of;
    const int64_t element_bytes = tiles.implementation.views[0].element_bytes;
    std::vector<polytile_view> moved;
    for (int a = 0; a < of.n_arrays; a++) {
        const polytile_tile_array &array = of.array[a];
        moved.push_back(view_of(array, array.kept, array.resident, element_bytes));
        if (array.beyond.origin != nullptr) {
            moved.push_back(view_of(array, array.beyond, array.resident_beyond, element_bytes));
            moved.back().resident = domain_of(array.resident_beyond);
        }
        if (array.is_loaded != 0)
            moved.push_back(view_of(array, array.begun, of.threads, element_bytes));
        if (array.is_stored != 0)
            moved.push_back(view_of(array, array.made, of.own, element_bytes));
    }
    if (!can_run_over(moved, element_bytes))
        return;
    for (int64_t t = n_tiles_along(of, 0) * n_tiles_along(of, 1) - 1; t >= 0; t--) {
        const Box box = box_of(of, t / n_tiles_along(of, 1), t % n_tiles_along(of, 1));
        std::vector<Image> images(static_cast<size_t>(of.n_arrays),
                                  Image(image_box_of(box, of.round), element_bytes));
        for (int a = 0; a < of.n_arrays; a++)
            for (const Box &part : go_round({box}, of.round))
                images[static_cast<size_t>(a)].load(of.array[a], part, of.threads);
        for (int l = 0; l < of.n_launches; l++) {
            Kernel step = {tiles.implementation, {}, {}, {}, {}};
            for (int v = 0; v < tiles.implementation.n_views; v++) {
                const polytile_tile_role &role = of.role[l % of.n_phases][v];
                step.views.push_back(images[static_cast<size_t>(role.array)].show_as(role));
            }
            step.values = tiles.values[static_cast<size_t>(l)];
            const std::vector<polytile_view> views = all_views(step);
            for (const Box &part : go_round({part_of(of, of.threads, box, l + 1)}, of.round)) {
                const polytile_domain threads = domain_of(part);
                tiles.implementation.host(&threads, views.data(), tiles.implementation.user);
            }
        }
        for (int a = 0; a < of.n_arrays; a++)
            if (of.array[a].is_stored != 0)
                images[static_cast<size_t>(a)].store(of.array[a],
                                                     part_of(of, of.own, box, of.n_launches));
    }
}
