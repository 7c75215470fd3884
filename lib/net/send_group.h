#pragma once

namespace apimesh::net {

/// While a group exists on a thread, the TLS records that the thread's connections write are collected and sent with
/// one system call for many connections. When the group ends, all records are sent or wait for room in their socket. It
/// is meant for sending the same data to many clients; the thread should do nothing else meanwhile.
class SendGroup {
 public:
  SendGroup();
  ~SendGroup();
  SendGroup(const SendGroup&) = delete;
};

}  // namespace apimesh::net
