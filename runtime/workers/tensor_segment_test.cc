#include "runtime/workers/tensor_segment.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "gtest/gtest.h"

namespace banyan {
namespace {

// Linux 6.3 and later; Debian's headers are older.
#ifndef F_SEAL_EXEC
constexpr int F_SEAL_EXEC = 0x0020;
#endif

TEST(TensorSegmentTest, BothSidesSeeTheSameSlots) {
  const TensorSegment::Shape shape{5, 2, 1};
  auto node = TensorSegment::Create(shape);
  ASSERT_TRUE(node.ok()) << node.status();
  auto worker = TensorSegment::Map(FileDescriptor(dup((*node)->fd())), shape);
  ASSERT_TRUE(worker.ok()) << worker.status();
  (*node)->CloseFile();
  for (int i = 0; i < 5; ++i) {
    (*worker)->gradient(0).floats()[i] = i;
    (*worker)->gradient(1).floats()[i] = 10 + i;
    (*node)->result(0).floats()[i] = 20 + i;
  }
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ((*node)->gradient(0).floats()[i], i);
    EXPECT_EQ((*node)->gradient(1).floats()[i], 10 + i);
    EXPECT_EQ((*worker)->result(0).floats()[i], 20 + i);
  }
  EXPECT_EQ((*node)->size_bytes(), 3 * 64);
}

TEST(TensorSegmentTest, HasTheSizeOfItsType) {
  EXPECT_EQ(TensorSegment::SizeBytes({100, 2, 1, DataType::kFloat16}), 3 * 256);
  EXPECT_EQ(TensorSegment::SizeBytes({100, 2, 1, DataType::kInt64}), 3 * 832);
  EXPECT_EQ(TensorSegment::SizeBytes({int64_t{1} << 33, 2, 1, DataType::kFloat64}), (int64_t{3} << 33) * 8);
  const auto node = TensorSegment::Create({3, 1, 1, DataType::kBFloat16});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_EQ((*node)->result(0).type(), DataType::kBFloat16);
  EXPECT_EQ((*node)->result(0).size_bytes(), 6);
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

TEST(TensorSegmentTest, AForkedChildHasNoPartOfIt) {
  auto node = TensorSegment::Create({1000, 2, 1});
  ASSERT_TRUE(node.ok()) << node.status();
  (*node)->gradient(0).floats()[0] = 7;
  const void* const page = (*node)->gradient(0).data();
  const int64_t size_bytes = (*node)->size_bytes();
  const pid_t child = fork();
  if (child == 0) {
    // What the child maps there is its own, and stays when the segment goes.
    void* const own = mmap(const_cast<void*>(page), size_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (own != page) _exit(1);
    node->reset();
    _exit(*static_cast<volatile float*>(own) == 0 ? 0 : 2);
  }
  int ended = -1;
  ASSERT_EQ(waitpid(child, &ended, 0), child);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ((*node)->gradient(0).floats()[0], 7);
}

TEST(TensorSegmentTest, IsClosedOnExecAndNeverExecutable) {
  auto node = TensorSegment::Create({10, 1, 1});
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_NE(fcntl((*node)->fd(), F_GETFD) & FD_CLOEXEC, 0);
  struct stat info;
  ASSERT_EQ(fstat((*node)->fd(), &info), 0);
  // Older kernels make all such memory executable.
  const bool is_sealed = (fcntl((*node)->fd(), F_GET_SEALS) & F_SEAL_EXEC) != 0;
  EXPECT_EQ((info.st_mode & S_IXUSR) == 0, is_sealed);
}

}  // namespace
}  // namespace banyan
