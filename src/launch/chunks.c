#include "launch/chunks.h"
