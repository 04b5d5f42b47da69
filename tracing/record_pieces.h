// Takes the records of a node apart, so that no message is long, and puts them together again. Pure functions.
#ifndef BANYAN_TRACING_RECORD_PIECES_H_
#define BANYAN_TRACING_RECORD_PIECES_H_

#include <cstddef>

#include "proto/tracing/round_records.h"

namespace banyan {

// Returns whether nothing is left to take.
bool IsEmpty(const RoundRecords& records);
// Moves up to `most` records out of `rest`, those of clocks included, and the count of those left out with the first.
RoundRecords TakePiece(RoundRecords& rest, size_t most);
// Adds a piece to `whole`.
void AddPiece(const RoundRecords& piece, RoundRecords& whole);

}  // namespace banyan

#endif  // BANYAN_TRACING_RECORD_PIECES_H_
