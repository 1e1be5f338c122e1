#ifndef POLYTILE_KERNEL_LIST_H
#define POLYTILE_KERNEL_LIST_H

/* Lists of up to 24 macro arguments. */
#define PT_CAT(a, b)           PT_CAT_(a, b)
#define PT_CAT_(a, b)          a##b
#define PT_APPLY(M, arguments) M arguments
#define PT_UNPACK(...)         __VA_ARGS__

/* How many arguments there are: up to 8, and up to 24. Preprocessing takes time for each that there
 * may be. */
#define PT_COUNT(...)                              PT_9TH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define PT_9TH(a, b, c, d, e, f, g, h, count, ...) count

#define PT_COUNT_TO_24(...)                                                                        \
    PT_25TH(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6,   \
            5, 4, 3, 2, 1, 0)
#define PT_25TH(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, count,     \
                ...)                                                                               \
    count

/* What a macro makes of each tuple: PT_EACH(M, x, (a, b), (c, d, e)) is M_2(x, a, b) M_3(x, c, d,
 * e), so that tuples of another size can mean something else. */
#define PT_EACH(M, x, ...) PT_CAT(PT_EACH_, PT_COUNT_TO_24(__VA_ARGS__))(M, x, __VA_ARGS__)

#define PT_TUPLE(M, x, tuple)      PT_TUPLE_(M, PT_COUNT tuple, x, PT_UNPACK tuple)
#define PT_TUPLE_(M, count, ...)   PT_TUPLE_OF(M, count, __VA_ARGS__)
#define PT_TUPLE_OF(M, count, ...) M##_##count(__VA_ARGS__)

#define PT_EACH_1(M, x, a)       PT_TUPLE(M, x, a)
#define PT_EACH_2(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_1(M, x, __VA_ARGS__)
#define PT_EACH_3(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_2(M, x, __VA_ARGS__)
#define PT_EACH_4(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_3(M, x, __VA_ARGS__)
#define PT_EACH_5(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_4(M, x, __VA_ARGS__)
#define PT_EACH_6(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_5(M, x, __VA_ARGS__)
#define PT_EACH_7(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_6(M, x, __VA_ARGS__)
#define PT_EACH_8(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_7(M, x, __VA_ARGS__)
#define PT_EACH_9(M, x, a, ...)  PT_TUPLE(M, x, a) PT_EACH_8(M, x, __VA_ARGS__)
#define PT_EACH_10(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_9(M, x, __VA_ARGS__)
#define PT_EACH_11(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_10(M, x, __VA_ARGS__)
#define PT_EACH_12(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_11(M, x, __VA_ARGS__)
#define PT_EACH_13(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_12(M, x, __VA_ARGS__)
#define PT_EACH_14(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_13(M, x, __VA_ARGS__)
#define PT_EACH_15(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_14(M, x, __VA_ARGS__)
#define PT_EACH_16(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_15(M, x, __VA_ARGS__)
#define PT_EACH_17(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_16(M, x, __VA_ARGS__)
#define PT_EACH_18(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_17(M, x, __VA_ARGS__)
#define PT_EACH_19(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_18(M, x, __VA_ARGS__)
#define PT_EACH_20(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_19(M, x, __VA_ARGS__)
#define PT_EACH_21(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_20(M, x, __VA_ARGS__)
#define PT_EACH_22(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_21(M, x, __VA_ARGS__)
#define PT_EACH_23(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_22(M, x, __VA_ARGS__)
#define PT_EACH_24(M, x, a, ...) PT_TUPLE(M, x, a) PT_EACH_23(M, x, __VA_ARGS__)

#endif
