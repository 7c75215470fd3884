#pragma once

#include <string>
#include <vector>

#include "lib/codec/yaml/yaml_events.h"

namespace apimesh::codec {

/// Formats the collection that begins at events[begin] as Go's %#v does: map[interface {}]interface {}{"a":interface
/// {}(nil)}. yaml.v2 shows a mapping key in this format if the key is a collection, as in "a: {{ template }}". If the
/// collection itself has a collection as a key, the result is the format of that key. Long texts are truncated.
std::string YamlGoSyntax(const std::vector<YamlEvent>& events, std::size_t begin);

}  // namespace apimesh::codec
