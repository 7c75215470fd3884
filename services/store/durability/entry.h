#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// Receives the contents of a log entry or of the base, in order.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void OnChange(const Change& change) = 0;
  virtual void OnLeaseGranted(LeaseId id, std::int64_t ttl_seconds) = 0;
  virtual void OnLeaseRevoked(LeaseId id) = 0;
  virtual void OnCompacted(Revision revision) = 0;
  virtual void OnAlarm(int type, bool active) = 0;
};

/// Encodes one entry: all changes of one request, which are atomic. The frame contains its length, the entry's sequence
/// number and a checksum over both and the epoch of the log, so that an incomplete or old frame is recognised.
class EntryWriter final : public StateVisitor {
 public:
  void OnChange(const Change& change) override;
  void OnLeaseGranted(LeaseId id, std::int64_t ttl_seconds) override;
  void OnLeaseRevoked(LeaseId id) override;
  void OnCompacted(Revision revision) override;
  void OnAlarm(int type, bool active) override;

  bool Empty() const { return body_.empty(); }
  /// Appends the complete frame to `out`.
  void AppendFrame(std::uint64_t sequence, std::uint32_t epoch, std::string& out) const;

 private:
  std::string body_;
};

/// Iterates over the frames of a log.
class EntryReader {
 public:
  EntryReader(std::string_view frames, std::uint32_t epoch) : rest_(frames), epoch_(epoch) {}
  /// Finds the next complete frame, which must have the number `sequence`. Returns false at the end of the log.
  bool Next(std::uint64_t sequence);
  void Visit(StateVisitor& visitor) const;
  std::size_t FrameBytes() const { return frame_bytes_; }

 private:
  std::string_view rest_, body_;
  std::uint32_t epoch_ = 0;
  std::size_t frame_bytes_ = 0;
};

}  // namespace apimesh::store
