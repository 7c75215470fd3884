#pragma once

#include "lib/meta/object.h"

namespace apimesh::meta {

/// Whether two documents are equal: as operator== of boost::json, which must not be used for documents of clients. It copies
/// every member that it compares, and therefore takes the size of a document times its depth in memory.
bool Equal(const json::value& a, const json::value& b);
bool Equal(const json::object& a, const json::object& b);
/// The same for values that may be missing.
bool Equal(const json::value* a, const json::value* b);

}  // namespace apimesh::meta
