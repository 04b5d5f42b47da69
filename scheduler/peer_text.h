// Text that a peer sent, made fit for log lines, errors, records and other peers' screens. Pure functions.
#ifndef BANYAN_SCHEDULER_PEER_TEXT_H_
#define BANYAN_SCHEDULER_PEER_TEXT_H_

#include <cstddef>
#include <string>

namespace banyan {

// True for UTF-8 without ASCII control characters.
bool IsPrintable(const std::string& text);

// `text` with '?' in place of each byte that would make it unprintable, cut to at most `limit_bytes` with "..." after
// them.
std::string PrintableText(const std::string& text, size_t limit_bytes);

}  // namespace banyan

#endif  // BANYAN_SCHEDULER_PEER_TEXT_H_
