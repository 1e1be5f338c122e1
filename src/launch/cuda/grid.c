#include "launch/cuda/grid.h"
