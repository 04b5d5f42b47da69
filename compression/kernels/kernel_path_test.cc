#include "compression/kernels/kernel_path.h"

#include "gtest/gtest.h"

namespace banyan {
namespace {

struct Doubling {
  static void Run(const int* in, int* out, int count) {
    for (int i = 0; i < count; ++i) out[i] = 2 * in[i];
  }
};

TEST(KernelPathTest, ThePortablePathIsFirstAndTheBestIsLast) {
  ASSERT_FALSE(KernelPaths().empty());
  EXPECT_EQ(KernelPaths().front(), KernelPath::kPortable);
  EXPECT_EQ(KernelPaths().back(), BestKernelPath());
}

TEST(KernelPathTest, EveryPathRunsTheBody) {
  for (KernelPath path : KernelPaths()) {
    const int in[] = {1, 2, 3};
    int out[3] = {};
    RunKernel<Doubling>(path, in, out, 3);
    EXPECT_EQ(out[0] + out[1] + out[2], 12);
  }
}

}  // namespace
}  // namespace banyan
