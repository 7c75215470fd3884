#pragma once

#include "lib/meta/object.h"

namespace apimesh::meta {

/// Returns whether two documents are equal, with the result of boost::json's operator==. That operator must not be used
/// for documents of clients: it copies every member that it compares, so its memory use is the size of the document
/// times its depth.
bool Equal(const json::value& a, const json::value& b);
bool Equal(const json::object& a, const json::object& b);
/// Compares values that may be absent (nullptr).
bool Equal(const json::value* a, const json::value* b);
/// Like Equal(), but an integer and a double of the same value are equal, because they have the same text. A field
/// whose schema says "number" is a double after decoding, and an integer after reading `1` from the store.
bool SameText(const json::value& a, const json::value& b);

}  // namespace apimesh::meta
