#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::store {

/// A file of the log; `first` is the sequence number of its first entry.
struct LogSegment {
  std::filesystem::path path;
  std::uint64_t first = 0;
};

/// The append-only log that makes writes durable: one write and one fdatasync for all entries that wait.
/// Used by one thread at a time. A disk that refuses a write ends the process: what is acknowledged must be true.
class Log {
 public:
  enum class Sync { kAlways, kNever };

  Log(std::filesystem::path folder, Sync sync) : folder_(std::move(folder)), sync_(sync) {}
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// The segments on disk, oldest first.
  static std::vector<LogSegment> Segments(const std::filesystem::path& folder);
  /// Begins a new segment, whose first entry will be `next_sequence`.
  void StartSegment(std::uint64_t next_sequence);
  /// Returns when the frames are on disk.
  void Append(std::string_view frames);
  std::size_t SegmentBytes() const { return offset_; }
  const LogSegment& Current() const { return current_; }

 private:
  std::filesystem::path folder_;
  Sync sync_;
  LogSegment current_;
  int fd_ = -1;
  std::size_t offset_ = 0;
};

/// The bytes of a segment, after its header. Throws if it is not ours.
std::string ReadSegment(const LogSegment& segment);

}  // namespace apimesh::store
