// Links: services/store/durability/entry.cc base ZLIB::ZLIB
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include <zlib.h>

#include "services/store/durability/entry.h"

namespace {

using namespace apimesh::store;

class Ignore final : public StateVisitor {
 public:
  void OnChange(const Change& change) override { bytes += change.key.size() + change.value.size(); }
  void OnLeaseGranted(LeaseId, std::int64_t) override {}
  void OnLeaseRevoked(LeaseId) override {}
  void OnCompacted(Revision) override {}
  void OnAlarm(int, bool) override {}
  std::size_t bytes = 0;
};

void ReadAll(std::string_view frames) {
  EntryReader reader(frames, 7);
  Ignore ignore;
  for (std::uint64_t sequence = 1; reader.Next(sequence); ++sequence) reader.Visit(ignore);
}

}  // namespace

// The log of a broken disk: the raw input, and the input as the body of a frame with a valid checksum.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  std::string frame(16, '\0');
  const auto length = static_cast<std::uint32_t>(size);
  frame[8] = 1;
  frame += body;
  const auto checksum =
      static_cast<std::uint32_t>(crc32_z(7, reinterpret_cast<const Bytef*>(frame.data() + 8), frame.size() - 8));
  std::memcpy(frame.data(), &length, 4);
  std::memcpy(frame.data() + 4, &checksum, 4);
  for (const std::string_view frames : {body, std::string_view(frame)}) {
    try {
      ReadAll(frames);
    } catch (const std::runtime_error&) {}
  }
  return 0;
}
