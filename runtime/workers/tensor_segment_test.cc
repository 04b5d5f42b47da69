#include "runtime/workers/tensor_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

TEST(TensorSegmentTest, BothSidesSeeTheSameSlots) {
  const TensorSegment::Shape shape{5, 2, 1};
  auto node = TensorSegment::Create(shape);
  ASSERT_TRUE(node.ok()) << node.status();
  auto worker = TensorSegment::Map(FileDescriptor(dup((*node)->fd())), shape);
  ASSERT_TRUE(worker.ok()) << worker.status();
  (*node)->CloseFile();
  for (int i = 0; i < 5; ++i) {
    (*worker)->gradient(0)[i] = i;
    (*worker)->gradient(1)[i] = 10 + i;
    (*node)->result(0)[i] = 20 + i;
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ((*node)->gradient(0)[i], i);
    EXPECT_EQ((*node)->gradient(1)[i], 10 + i);
    EXPECT_EQ((*worker)->result(0)[i], 20 + i);
  }
  EXPECT_EQ((*node)->size_bytes(), 3 * 64);
}

TEST(TensorSegmentTest, NobodyCanResizeIt) {
  auto node = TensorSegment::Create({1000, 2, 1});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_NE(ftruncate((*node)->fd(), 10), 0);
  EXPECT_NE(ftruncate((*node)->fd(), 1 << 20), 0);
}

TEST(TensorSegmentTest, UnsealedOrSmallMemoryIsRefused) {
  FileDescriptor unsealed(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(unsealed.get(), 4096), 0);
  EXPECT_FALSE(TensorSegment::Map(std::move(unsealed), {4, 2, 1}).ok());
  auto node = TensorSegment::Create({4, 2, 1});
  ASSERT_TRUE(node.ok());
  EXPECT_FALSE(TensorSegment::Map(FileDescriptor(dup((*node)->fd())), {1000, 2, 1}).ok());
  const absl::Status lost = TensorSegment::Map(FileDescriptor(), {4, 2, 1}).status();
  EXPECT_EQ(lost.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(lost.message().find("RLIMIT_NOFILE"), absl::string_view::npos) << lost;
}

TEST(TensorSegmentTest, AbsurdSizesAreErrors) { EXPECT_FALSE(TensorSegment::Create({int64_t{1} << 40, 64, 64}).ok()); }

TEST(TensorSegmentTest, NamesTheLimitOfDescriptors) {
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = TensorSegment::Create({10, 1, 1}).status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("ulimit -n"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace banyan
