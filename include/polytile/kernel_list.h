#ifndef POLYTILE_KERNEL_LIST_H
#define POLYTILE_KERNEL_LIST_H

/* Lists of up to eight macro arguments. PT_EACH(M, x, a, b) is M(x, 0, a) M(x, 1, b). */
#define PT_CAT(a, b)           PT_CAT_(a, b)
#define PT_CAT_(a, b)          a##b
#define PT_APPLY(M, arguments) M arguments
#define PT_UNPACK(...)         __VA_ARGS__

#define PT_COUNT(...) PT_NINTH(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0)

#define PT_NINTH(a, b, c, d, e, f, g, h, ninth, ...) ninth

#define PT_EACH(M, x, ...) PT_CAT(PT_EACH_, PT_COUNT(__VA_ARGS__))(M, x, __VA_ARGS__)

#define PT_EACH_1(M, x, a)                      M(x, 0, a)
#define PT_EACH_2(M, x, a, b)                   PT_EACH_1(M, x, a) M(x, 1, b)
#define PT_EACH_3(M, x, a, b, c)                PT_EACH_2(M, x, a, b) M(x, 2, c)
#define PT_EACH_4(M, x, a, b, c, d)             PT_EACH_3(M, x, a, b, c) M(x, 3, d)
#define PT_EACH_5(M, x, a, b, c, d, e)          PT_EACH_4(M, x, a, b, c, d) M(x, 4, e)
#define PT_EACH_6(M, x, a, b, c, d, e, f)       PT_EACH_5(M, x, a, b, c, d, e) M(x, 5, f)
#define PT_EACH_7(M, x, a, b, c, d, e, f, g)    PT_EACH_6(M, x, a, b, c, d, e, f) M(x, 6, g)
#define PT_EACH_8(M, x, a, b, c, d, e, f, g, h) PT_EACH_7(M, x, a, b, c, d, e, f, g) M(x, 7, h)

#endif
