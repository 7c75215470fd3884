#pragma once

#include <sys/socket.h>

/// If the system's congestion control is BBR, the kernel sets a timer for every segment, so that a network does not get
/// more than it can carry. Connections within one machine need no pacing, and the timers are a tenth of the cost of a
/// list (decision 0020).
namespace apimesh::net {

/// Disables pacing for `fd` and for the connections that it will accept. It must be called before listen() or
/// connect(), because a connection that was paced once stays paced.
void DoNotPace(int fd);

/// Applies the system's congestion control to an accepted connection again, unless its peer is on this machine.
void PaceUnlessLocal(int fd, const sockaddr_storage& peer);

/// Whether `peer` is an address of this machine; `own` is the address of this end.
bool IsLocal(const sockaddr_storage& own, const sockaddr_storage& peer);

}  // namespace apimesh::net
