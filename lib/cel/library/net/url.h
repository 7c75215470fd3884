#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::cel {

/// A URL as Go's net/url parses it.
struct Url {
  std::string scheme, opaque, user, host, raw_path, raw_query, fragment;
  bool has_user = false, force_query = false;

  std::string Hostname() const;
  std::string Port() const;
  std::string EscapedPath() const;
  /// Parameters in the order of their names; invalid ones are left out.
  std::vector<std::pair<std::string, std::vector<std::string>>> Query() const;
  std::string ToString() const;
};

/// Parses an absolute URL or an absolute path, which is what a request can name; fragments are parts of the path.
/// On failure, returns nothing and sets `error`.
std::optional<Url> ParseRequestUrl(std::string_view text, std::string& error);
/// Parses any URL.
std::optional<Url> ParseUrl(std::string_view text, std::string& error);

}  // namespace apimesh::cel
