// Has the kernel let in a part of the attempts to connect, before a process hears of them: a program for the packets of
// a listening socket (Linux's classic BPF, socket(7), SO_ATTACH_FILTER). Functions; no state.
#ifndef BANYAN_RUNTIME_TRANSPORT_SYN_FILTER_H_
#define BANYAN_RUNTIME_TRANSPORT_SYN_FILTER_H_

#include <linux/filter.h>

#include <vector>

#include "absl/status/status.h"
#include "runtime/transport/stranger_rates.h"

namespace banyan {

// Returns the program: of packets that begin a connection it drops, by chance, what the admission does not let in, and
// it takes all others. Whoever is dropped tries again by TCP's own rules.
std::vector<sock_filter> SynFilter(const Admission& admission);

// Puts the admission into force on a listening TCP socket, in place of what was; connections that stand are not
// touched. An error where the kernel has no such programs.
absl::Status AttachSynFilter(int listening_fd, const Admission& admission);

}  // namespace banyan

#endif  // BANYAN_RUNTIME_TRANSPORT_SYN_FILTER_H_
