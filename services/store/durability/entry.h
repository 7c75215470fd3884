#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// What an entry of the log, or the base, says; in order.
class StateVisitor {
 public:
  virtual ~StateVisitor() = default;
  virtual void OnChange(const Change& change) = 0;
  virtual void OnLeaseGranted(LeaseId id, std::int64_t ttl_seconds) = 0;
  virtual void OnLeaseRevoked(LeaseId id) = 0;
  virtual void OnCompacted(Revision revision) = 0;
  virtual void OnAlarm(int type, bool active) = 0;
};

/// Writes one entry: everything that one request changed, atomically. The frame carries its length, the entry's sequence
/// number and a checksum over both and the epoch of the log, so that a torn or stale frame is recognised.
class EntryWriter final : public StateVisitor {
 public:
  void OnChange(const Change& change) override;
  void OnLeaseGranted(LeaseId id, std::int64_t ttl_seconds) override;
  void OnLeaseRevoked(LeaseId id) override;
  void OnCompacted(Revision revision) override;
  void OnAlarm(int type, bool active) override;

  bool Empty() const { return body_.empty(); }
  /// Appends the finished frame to `out`.
  void AppendFrame(std::uint64_t sequence, std::uint32_t epoch, std::string& out) const;

 private:
  std::string body_;
};

/// Walks the frames of a log.
class EntryReader {
 public:
  EntryReader(std::string_view frames, std::uint32_t epoch) : rest_(frames), epoch_(epoch) {}
  /// Finds the next whole frame, which must carry `sequence`. False: the log ends here.
  bool Next(std::uint64_t sequence);
  void Visit(StateVisitor& visitor) const;
  std::size_t FrameBytes() const { return frame_bytes_; }

 private:
  std::string_view rest_, body_;
  std::uint32_t epoch_ = 0;
  std::size_t frame_bytes_ = 0;
};

}  // namespace apimesh::store
