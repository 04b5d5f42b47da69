// Values that come out in order of their time, and of their insertion where times are equal. Thread-compatible; owned
// by whoever has things to do at these times.
//
// A four-ary heap of small entries over a slab of values, so that ordering never moves a value and a busy queue
// allocates nothing.
#ifndef BANYAN_CORE_TIMED_QUEUE_H_
#define BANYAN_CORE_TIMED_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/time.h"

namespace banyan {

// `T` is movable and default-constructible.
template <typename T>
class TimedQueue {
 public:
  struct Item {
    Timestamp time;
    T value;
  };

  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }

  void Push(Timestamp time, T value) {
    heap_.push_back(Entry{time.nanoseconds(), next_order_++, Store(std::move(value))});
    SiftUp(heap_.size() - 1);
  }

  // REQUIRES: !empty().
  Timestamp NextTime() const { return Timestamp::FromNanoseconds(heap_.front().time); }

  // REQUIRES: !empty().
  Item Pop() {
    BANYAN_CHECK(!heap_.empty());
    const Entry first = heap_.front();
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) SiftDown(last);
    free_.push_back(first.slot);
    return Item{Timestamp::FromNanoseconds(first.time), std::move(values_[first.slot])};
  }

 private:
  static constexpr size_t kArity = 4;

  struct Entry {
    int64_t time;
    uint64_t order;
    size_t slot;

    bool Before(const Entry& other) const { return time != other.time ? time < other.time : order < other.order; }
  };

  size_t Store(T value) {
    if (free_.empty()) {
      values_.push_back(std::move(value));
      return values_.size() - 1;
    }
    const size_t slot = free_.back();
    free_.pop_back();
    values_[slot] = std::move(value);
    return slot;
  }

  void SiftUp(size_t hole) {
    const Entry entry = heap_[hole];
    while (hole > 0) {
      const size_t parent = (hole - 1) / kArity;
      if (!entry.Before(heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  // Puts `entry` into the place of the root.
  void SiftDown(const Entry& entry) {
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = hole * kArity + 1) {
      const size_t end = std::min(child + kArity, heap_.size());
      size_t least = child;
      for (size_t other = child + 1; other < end; ++other) {
        if (heap_[other].Before(heap_[least])) least = other;
      }
      if (!heap_[least].Before(entry)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = entry;
  }

  std::vector<Entry> heap_;
  std::vector<T> values_;     // by slot
  std::vector<size_t> free_;  // slots without a value
  uint64_t next_order_ = 0;
};

}  // namespace banyan

#endif  // BANYAN_CORE_TIMED_QUEUE_H_
