#include "lib/endpoint/output/protobuf_frames.h"

#include "lib/base/text/varint.h"

namespace apimesh::endpoint {
namespace {

constexpr std::string_view kMagic("k8s\0", 4);

void AppendField(std::string& out, int number, std::string_view bytes) {
  AppendVarint(out, static_cast<std::uint64_t>(number) << 3 | 2);
  AppendVarint(out, bytes.size());
  out += bytes;
}

}  // namespace

std::string EnvelopeHead(const meta::Gvk& kind, std::size_t size) {
  std::string type;
  AppendField(type, 1, kind.ApiVersion());
  AppendField(type, 2, kind.kind);
  std::string out(kMagic);
  AppendField(out, 1, type);
  AppendVarint(out, 2 << 3 | 2);
  AppendVarint(out, size);
  return out;
}

std::string EnvelopeTail() {
  std::string out;
  AppendField(out, 3, "");
  AppendField(out, 4, "");
  return out;
}

std::string_view UnwrapEnvelope(std::string_view envelope) {
  if (!envelope.starts_with(kMagic)) return {};
  envelope.remove_prefix(kMagic.size());
  while (!envelope.empty()) {
    std::uint64_t tag = 0, size = 0;
    if (!ReadVarint(envelope, tag) || !ReadVarint(envelope, size)) return {};
    if ((tag & 7) != 2 || size > envelope.size()) return {};
    if (tag >> 3 == 2) return envelope.substr(0, size);
    envelope.remove_prefix(size);
  }
  return {};
}

std::string ListMetaField(std::string_view resource_version, std::string_view continue_token,
                          std::optional<std::int64_t> remaining) {
  std::string meta;
  AppendField(meta, 1, "");
  AppendField(meta, 2, resource_version);
  AppendField(meta, 3, continue_token);
  if (remaining) {
    AppendVarint(meta, 4 << 3);
    AppendVarint(meta, static_cast<std::uint64_t>(*remaining));
  }
  std::string out;
  AppendField(out, 1, meta);
  return out;
}

std::string ItemFieldHead(std::size_t size) {
  std::string out;
  AppendVarint(out, 2 << 3 | 2);
  AppendVarint(out, size);
  return out;
}

}  // namespace apimesh::endpoint
