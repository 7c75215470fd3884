#pragma once

namespace apimesh::http {

/// While one exists on a thread, what its connections write by TLS is collected, and leaves by one system call for many of them; all of it
/// has left, or waits for its socket, when the group ends. For telling many clients the same: nothing else should happen meanwhile.
class SendGroup {
 public:
  SendGroup();
  ~SendGroup();
  SendGroup(const SendGroup&) = delete;
};

}  // namespace apimesh::http
