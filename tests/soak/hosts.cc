#include "soak/place.h"

#include "soak/ranks.h"

#include <iterator>

/* One process: the host, a part of its memory, several devices, or a GPU that is not there. */

namespace {

class Hosts : public Place {
  public:
    /** text: @ stands for the memory. */
    explicit Hosts(const char *text) : text_(text) {}

    /** Of several devices each has room for what little programs need at least: whether a launch
     * fits them all is found out when it runs. */
    std::string device(int64_t memory_bytes) const override {
        const int64_t of_each = memory_bytes + (is_queue() ? 16 << 10 : 0);
        std::string device;
        for (const char letter : text_)
            device += letter == '@' ? std::to_string(of_each) + "B" : std::string(1, letter);
        return device;
    }
    bool is_queue() const override { return text_.find(",host") != std::string::npos; }

  private:
    std::string text_;
};

} // namespace

std::unique_ptr<Place> draw_place(Random *random) {
    static const char *const texts[] = {"host",
                                        "host(threads=1)",
                                        "host(memory=@)",
                                        "host(memory=@,threads=1)",
                                        "host(memory=@,threads=1)",
                                        "host(memory=@,threads=2)",
                                        "host,host",
                                        "host(memory=@),host(memory=@)",
                                        "host(threads=1),host,host(memory=@,threads=1)"};
    const auto n_texts = static_cast<int64_t>(std::size(texts));
    const char *text = texts[random->number(0, n_texts - 1)];
    const auto seed = static_cast<uint64_t>(random->number(0, INT64_MAX - 1));
    std::unique_ptr<Place> gpu = random->chance(4) ? make_fake_cuda(seed) : nullptr;
    if (gpu != nullptr)
        return gpu;
    return std::make_unique<Hosts>(text);
}

void ranks_begin(int *, char ***) {}
void ranks_end() {}
int ranks_number() {
    return 0;
}
int64_t ranks_most(int64_t value) {
    return value;
}
