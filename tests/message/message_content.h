#ifndef POLYTILE_TESTS_MESSAGE_MESSAGE_CONTENT_H
#define POLYTILE_TESTS_MESSAGE_MESSAGE_CONTENT_H

#include <polytile/kernel.h>

#include <stdint.h>

/** What a message holds at a byte: its number first. */
PT_FUNCTION uint8_t content_of(int32_t message, int32_t byte) {
    const uint32_t word =
        byte < 4 ? (uint32_t)message : (uint32_t)message * 7919u + (uint32_t)(byte / 4);
    return (uint8_t)(word >> 8 * (byte % 4));
}

/** What is written over a buffer whose send is done, and what buffers hold at first. */
enum { SCRIBBLE = 0xee, BLANK = 0xff };

#endif
