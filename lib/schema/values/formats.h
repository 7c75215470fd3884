#pragma once

#include <cstdint>
#include <string_view>

namespace apimesh::schema {

/// The OpenAPI formats that kube-apiserver enforces for custom resources.
enum class Format : std::uint8_t {
  kNone,  // no format, or one that has no meaning for the type of the value
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kBsonObjectId,
  kByte,
  kCidr,
  kCreditCard,
  kDate,
  kDateTime,
  kDuration,
  kEmail,
  kHexColor,
  kHostname,
  kIpv4,
  kIpv6,
  kIsbn,
  kIsbn10,
  kIsbn13,
  kLongName,
  kMac,
  kPassword,
  kRgbColor,
  kShortName,
  kSsn,
  kUri,
  kUuid,
  kUuid3,
  kUuid4,
  kUuid5,
};

/// Returns the format with this name for values of an OpenAPI type; an empty type means any type. Returns kNone if the
/// format is unknown or belongs to another type; kube-apiserver ignores such formats.
Format FindFormat(std::string_view type, std::string_view name);

/// Returns whether a text is valid for a format. Formats of numbers accept every text.
bool HasFormat(std::string_view text, Format format);

}  // namespace apimesh::schema
