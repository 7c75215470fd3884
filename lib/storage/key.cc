#include <fmt/format.h>

#include <charconv>

#include "lib/meta/field_error.h"
#include "lib/storage/store.h"

namespace apimesh::storage {
namespace {

/// Why `segment` can't be one step of a path; empty if it can.
std::string_view BadSegment(std::string_view segment) {
  if (segment == ".") return "may not be '.'";
  if (segment == "..") return "may not be '..'";
  if (segment.find('/') != std::string_view::npos) return "may not contain '/'";
  if (segment.find('%') != std::string_view::npos) return "may not contain '%'";
  if (segment.find('\0') != std::string_view::npos) return "may not contain a NUL byte";
  return {};
}

}  // namespace

meta::Result<Key> KeyFor(bool namespaced, std::string_view ns, std::string_view name) {
  if (namespaced && ns.empty()) return meta::BadRequest("Namespace parameter required.");
  if (name.empty()) return meta::BadRequest("Name parameter required.");
  if (const std::string_view why = BadSegment(name); !why.empty()) {
    return meta::BadRequest(fmt::format("Name parameter invalid: {}: {}", meta::Quoted(name), why));
  }
  if (!namespaced) {
    // Dropping the namespace would turn rights in that namespace into rights on an object of the whole cluster.
    if (!ns.empty()) {
      return meta::InternalError(fmt::format("the cluster-scoped object {} was requested in namespace {}", meta::Quoted(name), meta::Quoted(ns)));
    }
    return Key{std::string(name)};
  }
  if (const std::string_view why = BadSegment(ns); !why.empty()) {
    return meta::BadRequest(fmt::format("Namespace parameter invalid: {}: {}", meta::Quoted(ns), why));
  }
  return Key{fmt::format("{}/{}", ns, name)};
}

meta::Result<Revision> ParseResourceVersion(std::string_view text) {
  if (text.empty()) return Revision{0};
  Revision revision = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), revision);
  if (error == std::errc() && end == text.data() + text.size()) return revision;
  const char* const why = error == std::errc::result_out_of_range ? "value out of range" : "invalid syntax";
  meta::ApiError::Data data;  // no reason and 500: the reference's stores don't say that the client is to blame
  data.reason.clear();
  data.message = fmt::format("resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: {1}", meta::Quoted(text), why);
  return meta::ApiError(std::move(data));
}

}  // namespace apimesh::storage
