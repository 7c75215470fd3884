#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/codec/yaml/yaml_events.h"

namespace apimesh::codec {

/// The typed value of a scalar.
struct YamlScalar {
  enum class Kind : std::uint8_t { kNull, kBool, kInteger, kUnsigned, kFloat, kString };

  Kind kind = Kind::kString;
  bool boolean = false;
  std::int64_t integer = 0;
  std::uint64_t number = 0;  // kUnsigned: greater than the maximum of std::int64_t
  double real = 0;

  bool IsString() const { return kind == Kind::kString; }
};

/// Resolves an untagged plain scalar as Go's yaml.v2 does for YAML 1.1: null, bool (yes, on, …), number or string.
/// Numbers may be binary, octal (0o17 and 017) or hexadecimal, with "_" between their digits.
YamlScalar ResolveYamlScalar(std::string_view text);

/// Resolves a scalar with a tag. Returns an error message if the text does not fit the tag, otherwise "". Binary data
/// is returned as a string, which the caller must decode.
std::string ResolveTaggedScalar(YamlTag tag, std::string_view text, YamlScalar& scalar);

/// Returns whether YAML 1.1 reads the text as a timestamp: 2006-01-02, 2006-01-02T15:04:05Z.
bool LooksLikeYamlTime(std::string_view text);

/// Formats a number that is the key of a mapping. Go formats it as a 32-bit float in the shortest form, 1e+06 for a
/// million.
std::string YamlFloatKey(double value);

}  // namespace apimesh::codec
