#include "launch/host/wait/spin.h"

#include <immintrin.h>

void pti_spin_pause(void) {
    _mm_pause();
}
