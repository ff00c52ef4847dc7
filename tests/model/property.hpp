// SPDX-License-Identifier: Apache-2.0
// rapidcheck properties inside GoogleTest: EXPECT_PROPERTY("name", lambda).
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#define EXPECT_PROPERTY(name, ...) EXPECT_TRUE(rc::check(name, __VA_ARGS__))
