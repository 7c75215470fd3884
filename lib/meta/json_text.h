#pragma once

#include <string>

#include "lib/meta/object.h"

namespace apimesh::meta {

/// Appends the same text as json::serialize(value). Setting up the serializer takes about as long as writing a hundred
/// short strings, so this function is for the keys of lists with many items.
void AppendJsonText(std::string& out, const json::value& value);

}  // namespace apimesh::meta
