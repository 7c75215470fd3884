#pragma once

#include <string>
#include <string_view>

namespace apimesh::codec {

enum class YamlStyle { kPlain, kSingleQuoted, kDoubleQuoted };

/// Whether only double quotes can represent the text: it has control characters or other characters that Go's yaml.v2
/// escapes, such as those beyond the basic multilingual plane. Line feeds do not count.
bool NeedsYamlEscapes(std::string_view text);

/// Appends a scalar as Go's yaml.v2 does. The style must be able to represent the text. If `indent` is not null, a line
/// of more than 80 characters is broken at its next space and continues with that many spaces.
void AppendYamlText(std::string& out, std::string_view text, YamlStyle style, const std::size_t* indent);

}  // namespace apimesh::codec
