#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::http2 {

/// Header fields in order. Names are in lower case; pseudo-header fields such as ":path" come first.
using Headers = std::vector<std::pair<std::string, std::string>>;
/// The same without copies: the text must stay valid until the called function returns.
using HeaderViews = std::vector<std::pair<std::string_view, std::string_view>>;

}  // namespace apimesh::http2
