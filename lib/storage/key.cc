#include <charconv>

#include <fmt/format.h>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/storage/store.h"

namespace apimesh::storage {
namespace {

/// Returns why `segment` cannot be a path segment; empty if it can.
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
    // Ignoring the namespace would turn permissions in that namespace into permissions on a cluster-scoped object.
    if (!ns.empty()) {
      return meta::InternalError(fmt::format("the cluster-scoped object {} was requested in namespace {}",
                                             meta::Quoted(name), meta::Quoted(ns)));
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
  // kube-apiserver's storage does not report this as a client error.
  return meta::PlainError(
      fmt::format("resourceVersion: Invalid value: {0}: strconv.ParseUint: parsing {0}: {1}", meta::Quoted(text), why));
}

}  // namespace apimesh::storage
