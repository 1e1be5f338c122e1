#include "distribute/mpi/world.h"
#include "soak/place.h"
#include "soak/ranks.h"

#include <polytile/mpi.h>

/* Several processes: every rank runs the same program and compares all that it holds. */

namespace {

class Ranks : public Place {
  public:
    explicit Ranks(Random *random)
        : text_(random->chance(60) ? "host(threads=1)" : "host(threads=1,memory=@)"),
          layout_(draw_layout(random)), launches_per_exchange_(random->one_of({0, 0, 1, 4})) {}

    std::string device(int64_t memory_bytes) const override {
        const size_t at = text_.find('@');
        return at == std::string::npos
                   ? text_
                   : std::string(text_).replace(at, 1,
                                                std::to_string(memory_bytes + (16 << 10)) + "B");
    }
    TwinPlace hooks() override {
        TwinPlace place;
        place.create_queue = [this](polytile_context *ctx, const char *device,
                                    polytile_queue **queue) {
            polytile_share_options options = {};
            options.layout = layout_.c_str();
            options.launches_per_exchange = launches_per_exchange_;
            return polytile_mpi_queue_create(ctx, MPI_COMM_WORLD, device, &options, queue);
        };
        return place;
    }
    bool is_queue() const override { return true; }

  private:
    static std::string draw_layout(Random *random) {
        static const char *const layouts[] = {"block", "block", "block(dim=0)", "cyclic(1)",
                                              "cyclic(3)"};
        if (random->chance(75))
            return layouts[random->number(0, 4)];
        std::string weights = "weighted(1";
        for (int rank = 1; rank < world_size(); rank++)
            weights += "," + std::to_string(random->number(0, 3));
        return weights + ")";
    }

    std::string text_;
    std::string layout_;
    int64_t launches_per_exchange_;
};

} // namespace

std::unique_ptr<Place> draw_place(Random *random) {
    return std::make_unique<Ranks>(random);
}

void ranks_begin(int *n_arguments, char ***arguments) {
    world_begin(n_arguments, arguments);
}
void ranks_end() {
    MPI_Finalize();
}
int ranks_number() {
    return world_rank();
}
int64_t ranks_most(int64_t value) {
    return world_most(static_cast<int>(value));
}
