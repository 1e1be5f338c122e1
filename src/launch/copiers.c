#include "launch/copiers.h"
