#include "support/fake_cuda.h"

#include <algorithm>
#include <cstring>

/* Kernels that run several launches as one, tile by tile: the host functions run over tiles that
 * hold nothing but what the kernel loads. */

namespace {

constexpr size_t default_shared_bytes = 48 << 10;
constexpr int64_t n_columns = POLYTILE_TILE_COLUMNS;

int64_t count(const polytile_range &range) {
    return range.hi - range.lo + 1;
}

polytile_domain box_of(int64_t i, int64_t n_rows, int64_t j, int64_t n_cols) {
    polytile_domain box = {};
    box.n_dims = 2;
    box.range[0] = {i, i + n_rows - 1, 1};
    box.range[1] = {j, j + n_cols - 1, 1};
    return box;
}

polytile_domain intersect(polytile_domain one, const polytile_domain &other) {
    for (int d = 0; d < 2; d++) {
        one.range[d].lo = std::max(one.range[d].lo, other.range[d].lo);
        one.range[d].hi = std::min(one.range[d].hi, other.range[d].hi);
    }
    return one;
}

bool is_empty(const polytile_domain &box) {
    return count(box.range[0]) < 1 || count(box.range[1]) < 1;
}

bool has(const polytile_domain &box, int64_t i, int64_t j) {
    return i >= box.range[0].lo && i <= box.range[0].hi && j >= box.range[1].lo &&
           j <= box.range[1].hi;
}

char *element_at(const polytile_view &view, int64_t i, int64_t j) {
    return static_cast<char *>(view.origin) + i * view.stride_bytes[0] + j * view.stride_bytes[1];
}

/** One tile with its border, of one array. */
class Image {
  public:
    Image(const polytile_domain &box, int64_t element_bytes)
        : box_(box), element_bytes_(element_bytes),
          bytes_(static_cast<size_t>(count(box.range[0]) * n_columns * element_bytes), '\xa5') {}

    /** A view that has the indices of another one, and this memory. */
    polytile_view show_as(const polytile_view &other) {
        polytile_view view = other;
        view.stride_bytes[0] = n_columns * element_bytes_;
        view.stride_bytes[1] = element_bytes_;
        view.origin = bytes_.data() - box_.range[0].lo * view.stride_bytes[0] -
                      box_.range[1].lo * view.stride_bytes[1];
        return view;
    }

    /** Copy what a box has in common with the tile from a view or to it; without what is in a
     * second one. */
    void move(const polytile_view &view, const polytile_domain &box, const polytile_domain *without,
              bool is_store) {
        const polytile_domain common = intersect(box_, box);
        const polytile_view own = show_as(view);
        for (int64_t i = common.range[0].lo; i <= common.range[0].hi; i++)
            for (int64_t j = common.range[1].lo; j <= common.range[1].hi; j++)
                if (without == nullptr || !has(*without, i, j))
                    std::memcpy(element_at(is_store ? view : own, i, j),
                                element_at(is_store ? own : view, i, j),
                                static_cast<size_t>(element_bytes_));
    }

  private:
    polytile_domain box_;
    int64_t element_bytes_;
    std::vector<char> bytes_;
};

/** Own rows or columns of a tile. */
int64_t own_extent(const polytile_tiles &of, int dim) {
    return (dim == 0 ? of.n_rows : n_columns) - of.n_launches * (of.before[dim] + of.after[dim]);
}

/** The part of a tile that is left after so many launches, in a box of threads. */
polytile_domain part_of(const polytile_tiles &of, const polytile_domain &threads,
                        const polytile_domain &box, int n_done) {
    polytile_domain part = box;
    for (int d = 0; d < 2; d++) {
        part.range[d].lo += n_done * of.before[d];
        part.range[d].hi -= n_done * of.after[d];
    }
    return intersect(part, threads);
}

} // namespace

cudaError_t FakeCuda::launch_tiles(const polytile_implementation &implementation, dim3 grid,
                                   dim3 block, void **arguments, size_t shared_bytes,
                                   Stream *stream) {
    const Tiles tiles = {implementation,
                         *static_cast<const polytile_tiles *>(arguments[0]),
                         *static_cast<const polytile_view *>(arguments[1]),
                         *static_cast<const polytile_view *>(arguments[2]),
                         *static_cast<const polytile_view *>(arguments[3]),
                         *static_cast<const polytile_view *>(arguments[4])};
    const auto allowed = shared_bytes_.find(implementation.cuda_tiles);
    const size_t allowed_bytes =
        allowed == shared_bytes_.end() ? default_shared_bytes : allowed->second;
    const auto needed = static_cast<size_t>(2 * tiles.of.n_rows * n_columns *
                                            implementation.views[0].element_bytes);
    if (shared_bytes > allowed_bytes)
        return cudaErrorInvalidValue;
    if (shared_bytes < needed || block.x != POLYTILE_TILE_THREADS || block.y != 1 || block.z != 1)
        violate("a tile kernel gets other shared memory, or another block, than it needs");
    for (int d = 0; d < 2; d++) {
        const int64_t own = own_extent(tiles.of, d);
        const int64_t n_tiles = d == 0 ? grid.y : grid.x;
        if (own < 1 || n_tiles != (count(tiles.of.own.range[d]) + own - 1) / own)
            violate("a tile kernel gets another grid than its tiles are");
    }
    n_tile_launches_++;
    n_tiled_ += tiles.of.n_launches;
    queues_.enqueue(stream->queue, [this, tiles] { run_tiles(tiles); });
    return cudaSuccess;
}

/** All tiles, from the last one on. */
void FakeCuda::run_tiles(const Tiles &tiles) {
    const polytile_tiles &of = tiles.of;
    const Kernel touched = {
        tiles.implementation, of.threads, {tiles.even_from, tiles.even_to}, {}, {}};
    if (!can_run(touched))
        return;
    const int64_t own[] = {own_extent(of, 0), own_extent(of, 1)};
    const int64_t element_bytes = tiles.implementation.views[0].element_bytes;
    const int64_t n_down = (count(of.own.range[0]) + own[0] - 1) / own[0];
    const int64_t n_across = (count(of.own.range[1]) + own[1] - 1) / own[1];
    for (int64_t t = n_down * n_across - 1; t >= 0; t--) {
        const int64_t i = of.own.range[0].lo + t / n_across * own[0] - of.n_launches * of.before[0];
        const int64_t n_left = of.own.range[0].hi - i + 1 + of.n_launches * of.after[0];
        const polytile_domain box = box_of(
            i, std::min<int64_t>(of.n_rows, n_left),
            of.own.range[1].lo + t % n_across * own[1] - of.n_launches * of.before[1], n_columns);
        Image image[] = {Image(box, element_bytes), Image(box, element_bytes)};
        image[0].move(tiles.even_from, tiles.even_from.resident, nullptr, false);
        image[1].move(tiles.odd_from, tiles.odd_from.resident, &of.threads, false);
        for (int l = 0; l < of.n_launches; l++) {
            const bool is_odd = l % 2 == 1;
            const polytile_domain part = part_of(of, of.threads, box, l + 1);
            const polytile_view views[] = {
                image[is_odd].show_as(is_odd ? tiles.odd_from : tiles.even_from),
                image[!is_odd].show_as(is_odd ? tiles.odd_to : tiles.even_to)};
            if (!is_empty(part))
                tiles.implementation.host(&part, views, tiles.implementation.user);
        }
        image[of.n_launches % 2].move(tiles.even_to, part_of(of, of.own, box, of.n_launches),
                                      nullptr, true);
    }
}
