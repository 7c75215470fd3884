#pragma once

#include <sys/socket.h>

/// Where BBR is the system's rule, the kernel sets a timer for every segment, so that no network gets more than it can carry. Inside one machine
/// there is no network, and those timers are a tenth of the cost of a list (decision 0020).
namespace apimesh::http {

/// Connections that `fd` will accept, or be, are not paced. Before listen() and connect(): a connection that was ever paced stays so.
void DoNotPace(int fd);

/// Gives an accepted connection the system's rule again, unless its other end is on this machine, too.
void PaceUnlessLocal(int fd, const sockaddr_storage& peer);

/// Whether an address of the other end is one of this machine; `own` is the address of this end.
bool IsLocal(const sockaddr_storage& own, const sockaddr_storage& peer);

}  // namespace apimesh::http
