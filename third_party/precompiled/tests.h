// What most tests include, besides: see third_party/precompiled_headers.bzl.
#ifndef BANYAN_THIRD_PARTY_PRECOMPILED_TESTS_H_
#define BANYAN_THIRD_PARTY_PRECOMPILED_TESTS_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "third_party/precompiled/libraries.h"

#endif  // BANYAN_THIRD_PARTY_PRECOMPILED_TESTS_H_
