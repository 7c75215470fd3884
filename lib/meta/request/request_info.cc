#include "lib/meta/request/request_info.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "lib/base/text/text.h"
#include "lib/meta/names.h"
#include "lib/meta/selectors/query.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::meta {
namespace {

constexpr std::string_view kNamespaces = "namespaces";  // a segment of paths, and the resource of namespaces themselves
/// Paths are split into at most this many parts; the last part contains the rest of the path. The parts after a
/// subresource are not interpreted individually.
constexpr std::size_t kMostParts = 16;

std::vector<std::string_view> SplitPath(std::string_view path) {
  while (path.starts_with('/')) path.remove_prefix(1);
  while (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = parts.size() + 1 < kMostParts ? path.find('/') : std::string_view::npos;
    parts.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

RequestVerb VerbOf(std::string_view method) {
  if (method == "POST") return Verb::kCreate;
  if (method == "GET" || method == "HEAD") return Verb::kGet;
  if (method == "PUT") return Verb::kUpdate;
  if (method == "PATCH") return Verb::kPatch;
  if (method == "DELETE") return Verb::kDelete;
  return {};
}

bool IsTrue(std::string_view text) {
  const std::string lower = LowerCase(text);
  return lower != "false" && lower != "0";
}

bool IsInteger(const std::optional<std::string>& text) {
  if (!text || text->empty()) return true;
  std::string_view digits = *text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() && end == digits.data() + digits.size();
}

/// Returns the name that the field selector metadata.name=x requires; empty if there is none or the selector does not
/// parse.
std::string NameFromFieldSelector(const QueryParameters& query) {
  if (!query.First("fieldSelector")) return "";
  if (!IsInteger(query.First("limit")) || !IsInteger(query.First("timeoutSeconds"))) return "";
  if (const auto labels = query.First("labelSelector"); labels && !LabelSelector::Parse(*labels)) return "";
  const Result<FieldSelector> fields = FieldSelector::Parse(*query.First("fieldSelector"));
  if (!fields) return "";
  const std::string* name = fields->RequiresExactMatch("metadata.name");
  return name && CheckPathSegment(*name).empty() ? *name : "";
}

}  // namespace

bool RequestInfo::IsNamespaceItself() const {
  return !ns.empty() && api_group.empty() && resource == kNamespaces && name == ns && parts.size() >= 2;
}

RequestInfo ParseRequestInfo(std::string_view method, std::string_view path, std::string_view query_text) {
  RequestInfo info;
  info.path = path;
  info.verb = LowerCase(method);

  const std::vector<std::string_view> all = SplitPath(path);
  if (all.size() < 3 || (all[0] != "api" && all[0] != "apis")) return info;
  info.api_prefix = all[0];
  std::size_t at = 1;
  if (info.api_prefix == "apis") {
    if (all.size() < 4) return info;
    info.api_group = all[at++];
  }
  info.is_resource_request = true;
  info.api_version = all[at++];

  const bool verb_in_path = all[at] == "watch" || all[at] == "proxy";
  if (verb_in_path) {
    if (at + 1 >= all.size()) return info;
    info.verb = all[at++];
  } else {
    info.verb = VerbOf(method);
  }

  if (all[at] == kNamespaces && at + 1 < all.size()) {
    info.ns = all[at + 1];
    // /namespaces/x/status is about the namespace, /namespaces/x/pods about the pods in it.
    if (at + 2 < all.size() && all[at + 2] != "status" && all[at + 2] != "finalize") at += 2;
  }
  info.parts.assign(all.begin() + static_cast<std::ptrdiff_t>(at), all.end());
  info.resource = info.parts[0];
  if (info.parts.size() >= 2) info.name = info.parts[1];
  if (info.parts.size() >= 3 && info.verb != Verb::kProxy) info.subresource = info.parts[2];

  const bool unnamed = info.name.empty();
  if (unnamed && info.verb == Verb::kDelete) info.verb = Verb::kDeleteCollection;
  if (!unnamed && info.verb != Verb::kWatch) return info;

  const QueryParameters query(query_text);
  if (unnamed && info.verb == Verb::kGet) {
    const std::optional<std::string> watch = query.First("watch");
    info.verb = watch && IsTrue(*watch) ? Verb::kWatch : Verb::kList;
    info.name = NameFromFieldSelector(query);
  }
  if (!verb_in_path &&
      (info.verb == Verb::kList || info.verb == Verb::kWatch || info.verb == Verb::kDeleteCollection)) {
    info.field_selector = query.First("fieldSelector").value_or("");
    info.label_selector = query.First("labelSelector").value_or("");
  }
  return info;
}

}  // namespace apimesh::meta
