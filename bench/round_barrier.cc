#include "bench/round_barrier.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <limits>
#include <new>
#include <thread>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "core/check.h"
#include "posix/file_descriptor.h"

namespace banyan {
namespace {

constexpr uint64_t kMagic = 0x62616e79616e6767;
constexpr int64_t kClosed = std::numeric_limits<int64_t>::max();
// Short beside a round, long beside what a look costs.
constexpr absl::Duration kOpeningLookInterval = absl::Microseconds(300);
// Longer, as those who look take processors from those who have not ended the round.
constexpr absl::Duration kEndLookInterval = absl::Milliseconds(5);

absl::StatusOr<void*> Map(int fd, size_t size, const std::string& path) {
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED) return absl::ErrnoToStatus(errno, absl::StrCat("cannot map ", path));
  return memory;
}

}  // namespace

struct RoundBarrier::Shared {
  struct Member {
    std::atomic<int64_t> arrived{0};
    std::atomic<int64_t> ended{0};
    RoundSpan last;  // written before `ended`
  };
  uint64_t magic = kMagic;
  int64_t members = 0;
  std::atomic<int64_t> open{0};
  std::array<Member, kMaxGateMembers> slots;
};

absl::StatusOr<std::unique_ptr<RoundBarrier>> RoundBarrier::Create(const std::string& path, int members) {
  static_assert(std::atomic<int64_t>::is_always_lock_free);
  BANYAN_CHECK(members >= 1 && members <= kMaxGateMembers);
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.valid() || ftruncate(file.get(), sizeof(Shared)) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make ", path));
  }
  const absl::StatusOr<void*> memory = Map(file.get(), sizeof(Shared), path);
  if (!memory.ok()) return memory.status();
  auto* shared = new (*memory) Shared;
  shared->members = members;
  return std::unique_ptr<RoundBarrier>(new RoundBarrier(shared, members));
}

absl::StatusOr<std::unique_ptr<RoundBarrier>> RoundBarrier::Open(const std::string& path, int members) {
  const FileDescriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!file.valid()) return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", path));
  struct stat info = {};
  if (fstat(file.get(), &info) != 0 || info.st_size != sizeof(Shared)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": expected a benchmark's barrier of ", sizeof(Shared), " bytes"));
  }
  const absl::StatusOr<void*> memory = Map(file.get(), sizeof(Shared), path);
  if (!memory.ok()) return memory.status();
  std::unique_ptr<RoundBarrier> barrier(new RoundBarrier(static_cast<Shared*>(*memory), members));
  if (barrier->shared_->magic == kMagic && barrier->shared_->members == members) return barrier;
  return absl::InvalidArgumentError(absl::StrCat(path, ": expected a benchmark's barrier of ", members, " members"));
}

RoundBarrier::~RoundBarrier() { munmap(shared_, sizeof(Shared)); }

void RoundBarrier::Arrive(int member, int64_t round) {
  BANYAN_CHECK(member >= 0 && member < members_);
  shared_->slots[static_cast<size_t>(member)].arrived.store(round, std::memory_order_release);
}

void RoundBarrier::End(int member, int64_t round, RoundSpan span) {
  BANYAN_CHECK(member >= 0 && member < members_);
  Shared::Member& slot = shared_->slots[static_cast<size_t>(member)];
  slot.last = span;
  slot.ended.store(round, std::memory_order_release);
}

bool RoundBarrier::AwaitOpening(int64_t round, absl::Duration patience) const {
  const auto is_open = [this, round] { return shared_->open.load(std::memory_order_acquire) >= round; };
  return Await(is_open, patience, kOpeningLookInterval) && !IsClosed();
}

bool RoundBarrier::AwaitAllEnded(int64_t round, absl::Duration patience) const {
  const auto has_ended = [round](const Shared::Member& slot) {
    return slot.ended.load(std::memory_order_acquire) >= round;
  };
  const auto is_over = [this, has_ended] {
    return IsClosed() || std::all_of(shared_->slots.begin(), shared_->slots.begin() + members_, has_ended);
  };
  return Await(is_over, patience, kEndLookInterval) && !IsClosed();
}

bool RoundBarrier::Await(const std::function<bool()>& is_over, absl::Duration patience, absl::Duration look_interval) {
  const auto deadline = std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(patience);
  while (!is_over()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(absl::ToChronoMicroseconds(look_interval));
  }
  return true;
}

bool RoundBarrier::IsClosed() const { return shared_->open.load(std::memory_order_acquire) == kClosed; }

bool RoundBarrier::AllArrived(int64_t round) const {
  return std::all_of(shared_->slots.begin(), shared_->slots.begin() + members_, [round](const Shared::Member& slot) {
    return slot.arrived.load(std::memory_order_acquire) >= round;
  });
}

void RoundBarrier::OpenRound(int64_t round) { shared_->open.store(round, std::memory_order_release); }

void RoundBarrier::Close() { shared_->open.store(kClosed, std::memory_order_release); }

RoundSpan RoundBarrier::LastSpan() const {
  RoundSpan span = shared_->slots.front().last;
  for (int i = 1; i < members_; ++i) {
    const RoundSpan& member = shared_->slots[static_cast<size_t>(i)].last;
    span.start_ns = std::min(span.start_ns, member.start_ns);
    span.end_ns = std::max(span.end_ns, member.end_ns);
  }
  return span;
}

}  // namespace banyan
