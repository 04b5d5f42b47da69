// The process at the other end of an AF_UNIX connection. Its children may hold the connection's socket as well, so that
// the end of the process is not the end of the connection. Thread-safe.
#ifndef BANYAN_POSIX_PEER_PROCESS_H_
#define BANYAN_POSIX_PEER_PROCESS_H_

#include <sys/types.h>

#include "posix/file_descriptor.h"

namespace banyan {

// Returns a descriptor that can be read once the process that made the connection of `socket` has ended. Invalid where
// the kernel does not tell which one it is: then only the end of the connection shows it.
FileDescriptor WatchPeerProcess(int socket);

// Returns the same of this process, to be passed on to whoever cannot make one: the descriptor is sound for another
// namespace of processes as well. Invalid where the kernel has none (before Linux 5.3).
FileDescriptor OwnProcessWatch();

// Returns the number of the process that made the connection of `socket`; 0 where the kernel does not tell.
pid_t PeerProcess(int socket);

// Returns whether the process that `watch` watches has ended; false for an invalid one.
bool HasEnded(const FileDescriptor& watch);

}  // namespace banyan

#endif  // BANYAN_POSIX_PEER_PROCESS_H_
