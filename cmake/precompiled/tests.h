// Precompiled for the tests: see core.h.
#pragma once

#include <gtest/gtest.h>

#include "core.h"
