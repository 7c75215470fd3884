#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "lib/http/send_all.h"

namespace apimesh::http {

class RecordBuffer;

/// TLS records that wait for the system call: those of the connection whose turn it is and, while a SendGroup exists, those of connections
/// that had theirs. One for all connections of a thread.
class RecordBatch {
 public:
  static constexpr std::size_t kBytes = 128 << 10;  // of one connection; and of all, if they are a group
  static RecordBatch& OfThisThread();

  // ---- the connection whose turn it is; there are no records of it before and after
  std::string_view View() const { return {bytes_.get() + begin_, size_ - begin_}; }
  bool Full() const { return size_ - begin_ >= kBytes; }
  /// Room for so many bytes more, whose number is told to Added().
  char* Room(std::size_t bytes);
  void Added(std::size_t bytes) { size_ += bytes; }
  void Clear() { size_ = begin_; }

  // ---- groups
  void BeginGroup() { ++groups_; }
  void EndGroup();
  bool Grouping() const { return groups_ > 0; }
  /// The turn is over. What has been collected is sent for `owner`, which is told by Sent().
  void Postpone(RecordBuffer& owner, int fd);
  /// Sends what was postponed.
  void Flush();

 private:
  struct Postponed {
    RecordBuffer* owner;
    int fd;
    std::size_t begin, end;
  };
  std::unique_ptr<char[]> bytes_;  // not zeroed
  std::size_t begin_ = 0;          // of the connection whose turn it is; before it: those of postponed_
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  int groups_ = 0;
  std::vector<Postponed> postponed_;
  std::vector<SocketSend> sends_;
};

}  // namespace apimesh::http
