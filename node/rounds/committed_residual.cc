#include "node/rounds/committed_residual.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/check.h"

namespace banyan {
namespace {

int64_t EndOf(const ElementRange& range) { return range.first_element + range.elements; }

}  // namespace

std::vector<Buffer> VoterResiduals::Read(const ElementRange& range) {
  std::vector<Buffer> numbers;
  for (CommittedResidual& place : places_) {
    numbers.push_back(place.size_bytes() == 0 ? Buffer() : place.Read(range));
  }
  return numbers;
}

void VoterResiduals::Commit(const ElementRange& range, std::vector<Buffer> left) {
  if (places_.size() < left.size()) places_.resize(left.size());
  for (size_t place = 0; place < places_.size(); ++place) {
    if (place < left.size()) {
      places_[place].Commit(range, std::move(left[place]));
    } else {
      places_[place].Drop(range);
    }
  }
}

int64_t VoterResiduals::size_bytes() const {
  int64_t bytes = 0;
  for (const CommittedResidual& place : places_) bytes += place.size_bytes();
  return bytes;
}

Buffer CommittedResidual::Read(const ElementRange& range) {
  auto piece = pieces_.upper_bound(range.first_element);
  if (piece != pieces_.begin()) {
    --piece;
    const int64_t offset = range.first_element - piece->first;
    if (offset + range.elements <= piece->second.elements()) return piece->second.Slice(offset, range.elements);
    if (offset >= piece->second.elements()) ++piece;
  }
  Buffer whole = Buffer::Allocate(range.elements);
  for (; piece != pieces_.end() && piece->first < EndOf(range); ++piece) {
    const int64_t first = std::max(piece->first, range.first_element);
    const int64_t end = std::min(piece->first + piece->second.elements(), EndOf(range));
    const Buffer part = piece->second.Slice(first - piece->first, end - first);
    std::copy(part.floats().begin(), part.floats().end(),
              whole.mutable_floats().begin() + (first - range.first_element));
  }
  Commit(range, whole);
  return whole;
}

void CommittedResidual::Commit(const ElementRange& range, Buffer values) {
  BANYAN_CHECK(values.elements() == range.elements);
  Drop(range);
  Put(range.first_element, std::move(values));
}

void CommittedResidual::Put(int64_t first_element, Buffer piece) {
  size_bytes_ += piece.size_bytes();
  pieces_.emplace(first_element, std::move(piece));
}

void CommittedResidual::Drop(const ElementRange& range) {
  auto piece = pieces_.upper_bound(range.first_element);
  if (piece != pieces_.begin()) --piece;
  while (piece != pieces_.end() && piece->first < EndOf(range)) {
    const int64_t first = piece->first;
    const int64_t end = first + piece->second.elements();
    if (end <= range.first_element) {
      ++piece;
      continue;
    }
    const Buffer whole = std::move(piece->second);
    size_bytes_ -= whole.size_bytes();
    piece = pieces_.erase(piece);
    if (first < range.first_element) Put(first, whole.Slice(0, range.first_element - first));
    if (end > EndOf(range)) Put(EndOf(range), whole.Slice(EndOf(range) - first, end - EndOf(range)));
  }
}

}  // namespace banyan
