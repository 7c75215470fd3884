#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/text/varint.h"
#include "services/store/mvcc/revision.h"

/// Responses are written directly in protobuf's wire format, so a response with many keys is copied only once, from the
/// base's memory map to the bytes that are sent.
namespace apimesh::store::wire {

inline void AppendTag(std::string& out, int field, int type) {
  AppendVarint(out, static_cast<std::uint64_t>(field) << 3 | static_cast<unsigned>(type));
}

/// Proto3 omits zero values.
inline void AppendInteger(std::string& out, int field, std::uint64_t value) {
  if (value == 0) return;
  AppendTag(out, field, 0);
  AppendVarint(out, value);
}
inline void AppendInteger(std::string& out, int field, std::int64_t value) {
  AppendInteger(out, field, static_cast<std::uint64_t>(value));
}
inline void AppendBool(std::string& out, int field, bool value) {
  AppendInteger(out, field, static_cast<std::uint64_t>(value));
}

/// Appends a submessage, even if it is empty.
inline void AppendMessage(std::string& out, int field, std::string_view bytes) {
  AppendTag(out, field, 2);
  AppendVarint(out, bytes.size());
  out.append(bytes);
}
inline void AppendBytes(std::string& out, int field, std::string_view bytes) {
  if (!bytes.empty()) AppendMessage(out, field, bytes);
}

inline std::size_t IntegerSize(std::int64_t value) {
  return value == 0 ? 0 : 1 + VarintSize(static_cast<std::uint64_t>(value));
}
inline std::size_t BytesSize(std::string_view bytes) {
  return bytes.empty() ? 0 : 1 + VarintSize(bytes.size()) + bytes.size();
}

/// The size of a change as mvccpb.KeyValue.
inline std::size_t KeyValueSize(const Change& kv) {
  return BytesSize(kv.key) + IntegerSize(kv.create) + IntegerSize(kv.id.main) + IntegerSize(kv.version) +
         BytesSize(kv.value) + IntegerSize(kv.lease);
}
inline void AppendKeyValueBody(std::string& out, const Change& kv) {
  AppendBytes(out, 1, kv.key);
  AppendInteger(out, 2, kv.create);
  AppendInteger(out, 3, kv.id.main);
  AppendInteger(out, 4, kv.version);
  AppendBytes(out, 5, kv.value);
  AppendInteger(out, 6, kv.lease);
}
inline void AppendKeyValue(std::string& out, int field, const Change& kv) {
  AppendTag(out, field, 2);
  AppendVarint(out, KeyValueSize(kv));
  AppendKeyValueBody(out, kv);
}

}  // namespace apimesh::store::wire
