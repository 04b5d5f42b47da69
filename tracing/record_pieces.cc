#include "tracing/record_pieces.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace banyan {
namespace {

// Moves up to `room` of the first rows, and takes them from `room`.
template <typename Row>
std::vector<Row> TakeRows(std::vector<Row>& from, size_t& room) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(std::min(room, from.size()));
  std::vector<Row> taken(from.begin(), end);
  from.erase(from.begin(), end);
  room -= taken.size();
  return taken;
}

template <typename Row>
void AddRows(const std::vector<Row>& from, std::vector<Row>& to) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

bool IsEmpty(const RoundRecords& records) { return records.size() == 0 && records.clocks.empty(); }

RoundRecords TakePiece(RoundRecords& rest, size_t most) {
  RoundRecords piece;
  piece.arrivals = TakeRows(rest.arrivals, most);
  piece.departures = TakeRows(rest.departures, most);
  piece.moments = TakeRows(rest.moments, most);
  piece.clocks = TakeRows(rest.clocks, most);
  piece.left_out = std::exchange(rest.left_out, 0);
  return piece;
}

void AddPiece(const RoundRecords& piece, RoundRecords& whole) {
  AddRows(piece.arrivals, whole.arrivals);
  AddRows(piece.departures, whole.departures);
  AddRows(piece.moments, whole.moments);
  AddRows(piece.clocks, whole.clocks);
  whole.left_out += piece.left_out;
}

}  // namespace banyan
