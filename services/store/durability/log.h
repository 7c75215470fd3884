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

/// The append-only log that makes writes durable with one write and one fdatasync for all waiting entries. Blocks are
/// filled with zeros before they are used, and files of old segments are reused, so that an fdatasync writes data but
/// rarely has to update the file system's journal. Used by one thread at a time, except Recycle(). If the disk rejects
/// a write, the process ends, because an acknowledged write must be durable.
class Log {
 public:
  enum class Sync { kAlways, kNever };

  Log(std::filesystem::path folder, Sync sync);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// Returns the segments on disk, oldest first.
  static std::vector<LogSegment> Segments(const std::filesystem::path& folder);
  /// Begins a new segment, whose first entry has the number `next_sequence`.
  void StartSegment(std::uint64_t next_sequence);
  /// Returns when the frames are on disk.
  void Append(std::string_view frames);
  std::size_t SegmentBytes() const { return offset_; }
  const LogSegment& Current() const { return current_; }
  /// A random number per run that is part of each frame's checksum. Frames that an earlier run left in a reused file
  /// are therefore never read as entries. Frames of this run have smaller sequence numbers.
  std::uint32_t Epoch() const { return epoch_; }
  /// Takes the file of a segment that is no longer needed. May be called from any thread.
  void Recycle(const LogSegment& segment);

 private:
  bool TakeSpare();

  std::filesystem::path folder_;
  Sync sync_;
  std::uint32_t epoch_;
  LogSegment current_;
  int fd_ = -1;
  std::size_t offset_ = 0;
  std::size_t written_ = 0;  // the file's blocks were written before up to this position
  std::mutex mutex_;
  std::vector<std::filesystem::path> spares_;  // guarded by mutex_
};

/// A segment that was read from disk: its header and its frames.
struct SegmentContents {
  static constexpr std::size_t kHeaderBytes = 16;
  std::uint32_t epoch = 0;
  std::string frames;
};
/// Throws if the file is not a log segment.
SegmentContents ReadSegment(const LogSegment& segment);

}  // namespace apimesh::store
