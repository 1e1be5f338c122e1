/* No program: a call of polytile/message.h outside a team kernel does not compile. */
#include <polytile/message.h>

int send_from_anywhere(float *x);

int send_from_anywhere(float *x) {
    return pt_send(x, 4, 0, 1);
}
