#include "services/store/durability/entry.h"

#include <cstring>
#include <stdexcept>

#include <zlib.h>

namespace apimesh::store {
namespace {

// A frame is: u32 body length, u32 checksum of sequence and body (seeded with the epoch), u64 sequence, body. Integers
// are little-endian.
constexpr std::size_t kHeader = 16;

enum class Op : char { kPut = 1, kDelete, kLeaseGranted, kLeaseRevoked, kCompacted, kAlarm };

template <class T>
void AppendInteger(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void AppendBytes(std::string& out, std::string_view bytes) {
  AppendInteger<std::uint32_t>(out, static_cast<std::uint32_t>(bytes.size()));
  out.append(bytes);
}

class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  bool AtEnd() const { return rest_.empty(); }
  template <class T>
  T Integer() {
    T value;
    std::memcpy(&value, Take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string_view Bytes() { return Take(Integer<std::uint32_t>()); }

 private:
  std::string_view Take(std::size_t size) {
    if (rest_.size() < size) throw std::runtime_error("a log entry is malformed although its checksum is correct");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  std::string_view rest_;
};

std::uint32_t Checksum(std::uint32_t epoch, std::string_view sequence_and_body) {
  return static_cast<std::uint32_t>(
      crc32_z(epoch, reinterpret_cast<const Bytef*>(sequence_and_body.data()), sequence_and_body.size()));
}

}  // namespace

void EntryWriter::OnChange(const Change& change) {
  body_.push_back(static_cast<char>(change.deleted ? Op::kDelete : Op::kPut));
  AppendInteger(body_, change.id.main);
  AppendInteger(body_, change.id.sub);
  AppendBytes(body_, change.key);
  if (change.deleted) return;
  AppendInteger(body_, change.create);
  AppendInteger(body_, change.version);
  AppendInteger(body_, change.lease);
  AppendBytes(body_, change.value);
}

void EntryWriter::OnLeaseGranted(LeaseId id, std::int64_t ttl_seconds) {
  body_.push_back(static_cast<char>(Op::kLeaseGranted));
  AppendInteger(body_, id);
  AppendInteger(body_, ttl_seconds);
}

void EntryWriter::OnLeaseRevoked(LeaseId id) {
  body_.push_back(static_cast<char>(Op::kLeaseRevoked));
  AppendInteger(body_, id);
}

void EntryWriter::OnCompacted(Revision revision) {
  body_.push_back(static_cast<char>(Op::kCompacted));
  AppendInteger(body_, revision);
}

void EntryWriter::OnAlarm(int type, bool active) {
  body_.push_back(static_cast<char>(Op::kAlarm));
  AppendInteger<std::int32_t>(body_, type);
  body_.push_back(active ? 1 : 0);
}

void EntryWriter::AppendFrame(std::uint64_t sequence, std::uint32_t epoch, std::string& out) const {
  const std::size_t start = out.size();
  AppendInteger<std::uint32_t>(out, static_cast<std::uint32_t>(body_.size()));
  AppendInteger<std::uint32_t>(out, 0);
  AppendInteger(out, sequence);
  out += body_;
  const std::uint32_t checksum = Checksum(epoch, std::string_view(out).substr(start + 8));
  std::memcpy(out.data() + start + 4, &checksum, sizeof checksum);
}

bool EntryReader::Next(std::uint64_t sequence) {
  rest_.remove_prefix(frame_bytes_);
  frame_bytes_ = 0;
  if (rest_.size() < kHeader) return false;
  std::uint32_t length = 0, checksum = 0;
  std::uint64_t found = 0;
  std::memcpy(&length, rest_.data(), 4);
  std::memcpy(&checksum, rest_.data() + 4, 4);
  std::memcpy(&found, rest_.data() + 8, 8);
  if (found != sequence || length == 0 || rest_.size() - kHeader < length) return false;
  if (Checksum(epoch_, rest_.substr(8, 8 + length)) != checksum) return false;
  body_ = rest_.substr(kHeader, length);
  frame_bytes_ = kHeader + length;
  return true;
}

void EntryReader::Visit(StateVisitor& visitor) const {
  Cursor cursor(body_);
  while (!cursor.AtEnd()) {
    const auto op = static_cast<Op>(cursor.Integer<char>());
    switch (op) {
      case Op::kPut:
      case Op::kDelete: {
        Change change{.deleted = op == Op::kDelete};
        change.id.main = cursor.Integer<Revision>();
        change.id.sub = cursor.Integer<std::uint32_t>();
        change.key = cursor.Bytes();
        if (!change.deleted) {
          change.create = cursor.Integer<Revision>();
          change.version = cursor.Integer<std::int64_t>();
          change.lease = cursor.Integer<LeaseId>();
          change.value = cursor.Bytes();
        }
        visitor.OnChange(change);
        break;
      }
      case Op::kLeaseGranted: {
        const auto id = cursor.Integer<LeaseId>();
        visitor.OnLeaseGranted(id, cursor.Integer<std::int64_t>());
        break;
      }
      case Op::kLeaseRevoked: visitor.OnLeaseRevoked(cursor.Integer<LeaseId>()); break;
      case Op::kCompacted: visitor.OnCompacted(cursor.Integer<Revision>()); break;
      case Op::kAlarm: {
        const auto type = cursor.Integer<std::int32_t>();
        visitor.OnAlarm(type, cursor.Integer<char>() != 0);
        break;
      }
      default: throw std::runtime_error("a log entry was written by a newer version");
    }
  }
}

}  // namespace apimesh::store
