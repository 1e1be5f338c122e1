#ifndef OUTSIDE_DICE_H
#define OUTSIDE_DICE_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace outside {

/** Numbers that look random; of 64 bits that follow from others. */
inline uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x7f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/** Random choices that follow from a seed alone, on every machine. */
class Dice {
  public:
    explicit Dice(uint64_t seed) : state(mix(seed, 1)) {}

    uint64_t bits() {
        state++;
        return mix(state, 2);
    }

    /** From lo to hi, both included. */
    int64_t between(int64_t lo, int64_t hi) {
        return hi <= lo ? lo
                        : lo + static_cast<int64_t>(bits() % static_cast<uint64_t>(hi - lo + 1));
    }

    bool chance(int percent) { return between(0, 99) < percent; }

    template <class T> T pick(std::initializer_list<T> list) {
        return list.begin()[between(0, static_cast<int64_t>(list.size()) - 1)];
    }

    template <class T> const T &pick(const std::vector<T> &list) {
        return list[static_cast<size_t>(between(0, static_cast<int64_t>(list.size()) - 1))];
    }

    /** A number from 0, as often as its weight says. */
    int weighted(std::initializer_list<int> weights) {
        int sum = 0, choice = 0;
        for (int weight : weights)
            sum += weight;
        int64_t left = between(0, sum - 1);
        for (int weight : weights) {
            if (left < weight)
                return choice;
            left -= weight;
            choice++;
        }
        return 0;
    }

  private:
    uint64_t state;
};

} // namespace outside

#endif
