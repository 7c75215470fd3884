#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/net/send_all.h"

namespace apimesh::net {

class RecordBuffer;

/// TLS records that are not yet sent: those of the current connection (the one that is writing) and, while a SendGroup
/// exists, those of connections that wrote before. There is one batch per thread, shared by all its connections.
class RecordBatch {
 public:
  static constexpr std::size_t kBytes = 128 << 10;  // per connection; in a group, for all of them
  static RecordBatch& OfThisThread();

  // ---- the current connection; the batch holds records of it only while it writes
  std::string_view View() const { return {bytes_.get() + begin_, size_ - begin_}; }
  bool Full() const { return size_ - begin_ >= kBytes; }
  /// Returns room for `bytes` more bytes. The caller then passes the number of bytes it used to Added().
  char* Room(std::size_t bytes);
  void Added(std::size_t bytes) { size_ += bytes; }
  void Clear() { size_ = begin_; }

  // ---- groups
  void BeginGroup() { ++groups_; }
  void EndGroup();
  bool Grouping() const { return groups_ > 0; }
  /// Ends the current connection's part of the batch. Its records are sent later, and the result is passed to
  /// `owner.Sent()`.
  void Postpone(RecordBuffer& owner, int fd);
  /// Sends the postponed records.
  void Flush();

 private:
  struct Postponed {
    RecordBuffer* owner;
    int fd;
    std::size_t begin, end;
  };
  std::unique_ptr<char[]> bytes_;  // not zeroed
  std::size_t begin_ = 0;          // the start of the current connection's records; those of postponed_ are before it
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  int groups_ = 0;
  std::vector<Postponed> postponed_;
  std::vector<SocketSend> sends_;
};

}  // namespace apimesh::net
