#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
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
/// Blocks are written with zeros ahead of their use, and the files of old segments are used again, so that an fdatasync
/// has data to write but seldom anything to tell the file system's own journal.
/// Used by one thread at a time, except Recycle(). A disk that refuses a write ends the process: what is acknowledged
/// must be true.
class Log {
 public:
  enum class Sync { kAlways, kNever };

  Log(std::filesystem::path folder, Sync sync);
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
  /// Frames are sealed with this number, which every run draws anew: what an earlier run left in a file that is used
  /// again is never taken for an entry. What this run left has smaller sequence numbers.
  std::uint32_t Epoch() const { return epoch_; }
  /// Takes the file of a segment that nobody needs any more. Any thread.
  void Recycle(const LogSegment& segment);

 private:
  bool TakeSpare();

  std::filesystem::path folder_;
  Sync sync_;
  std::uint32_t epoch_;
  LogSegment current_;
  int fd_ = -1;
  std::size_t offset_ = 0;
  std::size_t written_ = 0;  // up to here the file has blocks that have been written before
  std::mutex mutex_;
  std::vector<std::filesystem::path> spares_;  // guarded by mutex_
};

/// A segment as it was read: what its header says, and the frames.
struct SegmentContents {
  static constexpr std::size_t kHeaderBytes = 16;
  std::uint32_t epoch = 0;
  std::string frames;
};
/// Throws if the file is not ours.
SegmentContents ReadSegment(const LogSegment& segment);

}  // namespace apimesh::store
