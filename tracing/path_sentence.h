// Says in one sentence what a round waited for: "round 17 took 3.8 s: n4 to n5 was full from 0.4 s to 3.7 s; then 0.1 s
// for three hops". Times count from the round's beginning. Pure functions.
#ifndef BANYAN_TRACING_PATH_SENTENCE_H_
#define BANYAN_TRACING_PATH_SENTENCE_H_

#include <map>
#include <string>
#include <utility>

#include "core/ids.h"
#include "tracing/critical_path.h"
#include "tracing/job_trace.h"

namespace banyan {

// What links can carry, in bits a second, as far as it is known. A full link that carried much less was slower than
// that, or a host was full.
using LinkRates = std::map<std::pair<NodeId, NodeId>, double>;

// Names the parts that took a good deal of the round, and adds up the others between them.
std::string SentenceOf(const CriticalPath& path, const JobTrace& trace, const LinkRates& rates);
// Says what one part was, without its times: "n4 to n5 was full".
std::string NameOf(const PathPart& part, const JobTrace& trace, const LinkRates& rates);

}  // namespace banyan

#endif  // BANYAN_TRACING_PATH_SENTENCE_H_
