#include "launch/progress.h"
