#include "lib/spdy/frame_writer.h"

#include "lib/spdy/byte_order.h"

namespace apimesh::spdy {

void AppendControl(std::string& out, Type type, std::uint8_t flags, std::string_view payload) {
  AppendUint32(out, 0x80030000u | static_cast<std::uint32_t>(type));
  AppendUint32(out, static_cast<std::uint32_t>(flags) << 24 | static_cast<std::uint32_t>(payload.size()));
  out += payload;
}

void AppendSynStream(std::string& out, std::uint32_t stream, std::string_view block) {
  std::string payload;
  AppendUint32(payload, stream);
  AppendUint32(payload, 0);  // not associated with another stream
  payload += {'\0', '\0'};   // priority and slot
  payload += block;
  AppendControl(out, Type::kSynStream, 0, payload);
}

void AppendData(std::string& out, std::uint32_t stream, std::string_view data, bool fin) {
  AppendUint32(out, stream);
  AppendUint32(out, (fin ? std::uint32_t{kFin} << 24 : 0) | static_cast<std::uint32_t>(data.size()));
  out += data;
}

void AppendRstStream(std::string& out, std::uint32_t stream, std::uint32_t status) {
  std::string payload;
  AppendUint32(payload, stream);
  AppendUint32(payload, status);
  AppendControl(out, Type::kRstStream, 0, payload);
}

void AppendPing(std::string& out, std::uint32_t id) {
  std::string payload;
  AppendUint32(payload, id);
  AppendControl(out, Type::kPing, 0, payload);
}

void AppendGoAway(std::string& out, std::uint32_t last_stream) {
  std::string payload;
  AppendUint32(payload, last_stream);
  AppendUint32(payload, 0);  // no error
  AppendControl(out, Type::kGoAway, 0, payload);
}

}  // namespace apimesh::spdy
