#include "node/rounds/voter_residuals.h"

#include <algorithm>
#include <utility>

namespace banyan {

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

}  // namespace banyan
