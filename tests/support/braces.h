#ifndef POLYTILE_TESTS_SUPPORT_BRACES_H
#define POLYTILE_TESTS_SUPPORT_BRACES_H

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "support/elements.h"
#include "support/random.h"

/** A random relation in braces, "{[i, j] -> A[a] : ...}", as text and as what it means. */
class RandomBraces {
  public:
    /** Threads have 1 or 2 indices, elements 1 or 2; alone: no two threads share an element. */
    RandomBraces(Random *random, int n_indices, int n_dims, const char *array = "A",
                 bool alone = false)
        : random_(random), n_indices_(n_indices), n_dims_(n_dims), array_(array), alone_(alone) {
        text_ = "{" + draw_piece();
        if (random->chance(15))
            text_ += "; " + draw_piece();
        text_ += "}";
    }

    const std::string &text() const { return text_; }

    bool has(const Point &thread, const Point &element) const {
        Point both = thread;
        both.insert(both.end(), element.begin(), element.end());
        for (const Condition &piece : pieces_)
            if (piece(both))
                return true;
        return false;
    }

  private:
    /** What holds for a point, and how many pieces it has once 'or' is multiplied out. */
    struct Condition {
        std::function<bool(const Point &)> holds;
        int64_t n_pieces = 1;

        bool operator()(const Point &point) const { return holds(point); }
    };
    struct Linear {
        std::string text;
        std::function<int64_t(const Point &)> value;
    };

    std::string draw_piece() {
        std::string condition;
        Condition holds = draw_condition(&condition);
        while (holds.n_pieces > most_pieces)
            holds = draw_condition(&condition);
        const bool alone = alone_;
        const size_t n_indices = static_cast<size_t>(n_indices_);
        pieces_.push_back({[=](const Point &point) {
            bool mine = true;
            for (size_t k = 0; alone && k < n_indices; k++)
                mine = mine && point[n_indices + k] == point[k];
            return mine && holds(point);
        }});
        if (alone)
            condition = std::string(n_indices_ == 1 ? "a = i" : "a = i and b = j") + " and (" +
                        condition + ")";
        return std::string(n_indices_ == 1 ? "[i] -> " : "[i, j] -> ") + array_ +
               (n_dims_ == 1 ? "[a] : " : "[a, b] : ") + condition;
    }

    const char *variable(int64_t at) const {
        static const char *const names[] = {"i", "j", "a", "b"};
        return at < n_indices_ ? names[at] : names[2 + at - n_indices_];
    }

    Linear draw_linear() {
        const int64_t constant = random_->number(-3, 3);
        std::vector<std::pair<size_t, int64_t>> terms;
        std::string text = std::to_string(constant);
        for (int64_t n = random_->number(0, 2); n > 0; n--) {
            const int64_t at = random_->number(0, n_indices_ + n_dims_ - 1);
            const int64_t factor = random_->one_of({1, 1, 1, -1, 2, -2, 3});
            terms.push_back({static_cast<size_t>(at), factor});
            text += (factor < 0 ? " - " : " + ") + std::to_string(std::abs(factor)) +
                    (random_->chance(50) ? "*" : "") + variable(at);
        }
        return {text, [=](const Point &point) {
                    int64_t value = constant;
                    for (const auto &[at, factor] : terms)
                        value += factor * point[at];
                    return value;
                }};
    }

    Linear draw_operand() {
        if (random_->chance(30)) {
            const auto at = static_cast<size_t>(n_indices_ + random_->number(0, n_dims_ - 1));
            return {variable(static_cast<int64_t>(at)),
                    [at](const Point &point) { return point[at]; }};
        }
        const Linear inner = draw_linear();
        if (!random_->chance(12) || ++n_quantified_ > POLYTILE_MAX_DIMS)
            return inner;
        const int64_t divisor = random_->number(1, 4);
        return {"(" + inner.text + ") mod " + std::to_string(divisor),
                [=](const Point &point) { return floor_mod(inner.value(point), divisor); }};
    }

    static int64_t floor_mod(int64_t value, int64_t divisor) {
        return ((value % divisor) + divisor) % divisor;
    }

    Condition draw_comparison(std::string *text) {
        static const char *const words[] = {"<=", ">=", "<", ">", "=", "==", "!="};
        const Linear left = draw_operand(), right = draw_operand();
        const int64_t kind = random_->one_of({0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6});
        *text = left.text + " " + words[kind] + " " + right.text;
        return {[=](const Point &point) {
                    const int64_t l = left.value(point), r = right.value(point);
                    const bool holds[] = {l <= r, l >= r, l<r, l> r, l == r, l == r, l != r};
                    return holds[kind];
                },
                kind == 6 ? 2 : 1};
    }

    /** low <= x, y <= high around elements, as most declarations have them. */
    Condition draw_chain(std::string *text) {
        const Linear low = draw_linear(), middle = draw_operand(), high = draw_linear();
        *text = low.text + " <= " + middle.text + " < " + high.text;
        return {[=](const Point &point) {
            return low.value(point) <= middle.value(point) &&
                   middle.value(point) < high.value(point);
        }};
    }

    Condition draw_exists(std::string *text) {
        const int64_t factor = random_->number(2, 4), most = random_->number(0, 3);
        const Linear linear = draw_linear();
        const std::string e = "exists (e : " + linear.text + " = " + std::to_string(factor) + "e";
        *text = e + " and 0 <= e <= " + std::to_string(most) + ")";
        return {[=](const Point &point) {
            const int64_t value = linear.value(point);
            return value % factor == 0 && value >= 0 && value / factor <= most;
        }};
    }

    Condition draw_atom(int depth, std::string *text) {
        if (depth > 0 && random_->chance(20)) {
            const Condition inside = draw_disjunction(depth - 1, text);
            *text = "(" + *text + ")";
            return inside;
        }
        if (random_->chance(12) && ++n_quantified_ <= POLYTILE_MAX_DIMS)
            return draw_exists(text);
        return random_->chance(50) ? draw_chain(text) : draw_comparison(text);
    }

    Condition draw_conjunction(int depth, std::string *text) {
        Condition all = draw_atom(depth, text);
        for (int64_t n = random_->one_of({0, 0, 1, 1, 2}); n > 0; n--) {
            std::string next;
            const Condition left = all, right = draw_atom(depth, &next);
            *text += (random_->chance(70) ? " and " : " && ") + next;
            all = {[=](const Point &point) { return left(point) && right(point); },
                   left.n_pieces * right.n_pieces};
        }
        return all;
    }

    Condition draw_condition(std::string *text) {
        n_quantified_ = 0;
        return draw_disjunction(2, text);
    }

    Condition draw_disjunction(int depth, std::string *text) {
        Condition any = draw_conjunction(depth, text);
        for (int64_t n = random_->one_of({0, 0, 0, 1}); n > 0; n--) {
            std::string next;
            const Condition left = any, right = draw_conjunction(depth, &next);
            *text += (random_->chance(70) ? " or " : " || ") + next;
            any = {[=](const Point &point) { return left(point) || right(point); },
                   left.n_pieces + right.n_pieces};
        }
        return any;
    }

    static constexpr int64_t most_pieces = 64; /* that a condition may have; docs/declarations.md */

    Random *random_;
    int n_indices_, n_dims_;
    std::string array_;
    bool alone_;
    int n_quantified_ = 0; /* in the piece being drawn, which may have 8 */
    std::string text_;
    std::vector<Condition> pieces_;
};

#endif
