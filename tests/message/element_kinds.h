#ifndef POLYTILE_TESTS_MESSAGE_ELEMENT_KINDS_H
#define POLYTILE_TESTS_MESSAGE_ELEMENT_KINDS_H

/** X(number, type): what random programs reduce. */
#define ELEMENT_KINDS(X)                                                                           \
    X(0, int32_t) X(1, float) X(2, double) X(3, int64_t) X(4, uint8_t) X(5, uint16_t)

#endif
