#include "services/object-check/check_object.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/meta/errors/other_errors.h"
#include "lib/meta/object.h"
#include "lib/schema/builtin.h"

namespace apimesh::object_check {
namespace {

namespace json = meta::json;

/// Keys that API servers write for themselves.
constexpr std::array<std::string_view, 3> kInternal = {"ranges/", "masterleases/", "peerserverleases/"};

/// Returns the kind that an object has in the store.
meta::Result<meta::Gvk> KindOf(std::string_view value) {
  if (codec::IsProtobuf(value)) return codec::PeekProtobuf(value);
  ASSIGN_OR_RETURN(const json::value document, codec::ParseJson(value, meta::NewArena()));
  if (!document.is_object()) return meta::PlainError("the value is not a JSON object");
  return meta::Object(document.get_object()).GetGvk();
}

/// Returns the normalised document without its version, with the schema of a kind; the text of an error otherwise.
meta::Result<json::object> ReadAs(std::string_view value, const schema::Node& node, codec::Strictness* strict) {
  ASSIGN_OR_RETURN(meta::Object object, Decode(value, node));
  RETURN_IF_ERROR(codec::Normalise(object.Root(), node, strict));
  object.Root().erase("apiVersion");
  return std::move(object.Root());
}

class BuiltinCheck {
 public:
  BuiltinCheck(const StoredResource& stored, std::string resource, std::string_view path, std::string_view value,
               Report& report)
      : stored_(stored), resource_(std::move(resource)), path_(path), value_(value), report_(report) {}

  void Run() {
    const meta::Result<meta::Gvk> kind = KindOf(value_);
    if (!kind) return Add(Problem::kUnreadable, kind.error().Message());
    if (kind->kind != stored_.stored_kind.kind) {
      return Add(Problem::kUnreadable, fmt::format("the kind is {}, and keys with this prefix are for {}",
                                                   kind->ToString(), stored_.stored_kind.kind));
    }
    const schema::Node* const node = schema::Builtin().FindKind(stored_.stored_kind);
    codec::Strictness strict;
    const meta::Result<json::object> read = ReadAs(value_, *node, &strict);
    if (!read) return Add(Problem::kUnreadable, read.error().Message());
    CheckVersion(*kind, *read, strict);
    if (!stored_.OnByDefault()) {
      Add(Problem::kOffByDefault,
          fmt::format("is served with --runtime-config={}=true", fmt::join(stored_.versions, "=true,")));
    }
  }

 private:
  void Add(Problem problem, std::string message) { report_.Add(problem, resource_, path_, std::move(message)); }

  void CheckVersion(const meta::Gvk& kind, const json::object& read, const codec::Strictness& strict) {
    // Definitions are converted when they are read. kube-apiserver writes them in a version that is not served.
    if (stored_.resource.resource == "customresourcedefinitions") return;
    if (kind == stored_.stored_kind) {
      if (!strict.complaints.empty()) Add(Problem::kLosesFields, fmt::format("{}", fmt::join(strict.complaints, ", ")));
      return;
    }
    const schema::Node* const node = schema::Builtin().FindKind(kind);
    if (!node) {
      return Add(Problem::kLosesFields,
                 fmt::format("is stored as {}, which this version of Kubernetes does not have; it is read as {}",
                             kind.ApiVersion(), stored_.stored_kind.ApiVersion()));
    }
    const meta::Result<json::object> original = ReadAs(value_, *node, nullptr);
    if (!original || *original != read) {
      Add(Problem::kLosesFields, fmt::format("is stored as {} and read as {}, which has other fields",
                                             kind.ApiVersion(), stored_.stored_kind.ApiVersion()));
    }
  }

  const StoredResource& stored_;
  const std::string resource_;
  const std::string_view path_, value_;
  Report& report_;
};

/// Returns why the server of a definition cannot read an object; empty if it can.
std::string CheckCustom(const Definitions::CustomResource& custom, const std::string& group, std::string_view value) {
  if (codec::IsProtobuf(value)) return "custom resources have no protobuf encoding";
  const meta::Result<meta::Gvk> kind = KindOf(value);
  if (!kind) return kind.error().Message();
  if (kind->group != group || kind->kind != custom.kind)
    return fmt::format("the kind is {}, and the definition is for {}.{}", kind->ToString(), custom.kind, group);
  if (!custom.versions.contains(kind->version))
    return fmt::format("is stored as {}, which its definition does not have", kind->version);
  return {};
}

/// Returns the first parts of a path.
std::string Head(std::string_view path, std::size_t parts) {
  const std::vector<std::string_view> all = Split(path, '/');
  return fmt::format(
      "{}", fmt::join(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(parts, all.size())), "/"));
}

std::size_t NamesIn(const Location& location, std::string_view path) {
  return static_cast<std::size_t>(
      std::count(path.begin() + static_cast<std::ptrdiff_t>(location.prefix.size()), path.end(), '/'));
}

}  // namespace

meta::Result<meta::Object> Decode(std::string_view value, const schema::Node& node) {
  if (codec::IsProtobuf(value)) return codec::ReadProtobuf(value, node, meta::NewArena());
  ASSIGN_OR_RETURN(json::value document, codec::ParseJson(value, meta::NewArena()));
  if (!document.is_object()) return meta::PlainError("the value is not a JSON object");
  return meta::Object(std::move(document.get_object()));
}

Location Locate(std::string_view path, const Definitions& definitions) {
  Location location;
  location.internal = std::any_of(kInternal.begin(), kInternal.end(),
                                  [&](std::string_view prefix) { return path.starts_with(prefix); });
  if (location.internal) return location;
  location.builtin = FindStored(path);
  if (location.builtin) {
    location.prefix = location.builtin->prefix;
    location.resource = location.builtin->resource;
    return location;
  }
  location.prefix = Head(path, 2);
  location.custom = definitions.Find(location.prefix);
  const std::size_t slash = location.prefix.find('/');
  // The first part of the key of a custom resource is its group, which contains a dot.
  const bool group = slash != std::string::npos && location.prefix.find('.') < slash;
  if (group) {
    location.resource = {location.prefix.substr(0, slash), location.prefix.substr(slash + 1)};
  } else {
    location.prefix = Head(path, 1);
    location.resource = {"", location.prefix};
  }
  return location;
}

void CheckObject(const Location& location, std::string_view path, std::string_view value, Report& report) {
  const std::string resource = location.resource.ToString();
  report.Count(resource);
  if (!location.builtin && !location.custom) {
    const meta::Result<meta::Gvk> kind = KindOf(value);
    const std::string what = kind ? kind->ToString() : "an object of an unknown kind";
    return report.Add(Problem::kNotServed, resource, path,
                      location.resource.group.empty()
                          ? fmt::format("{}: this version of Kubernetes has no such resource", what)
                          : fmt::format("{}: there is no CustomResourceDefinition {}", what, resource));
  }
  const bool namespaced = location.builtin ? location.builtin->namespaced : location.custom->namespaced;
  if (NamesIn(location, path) != (namespaced ? 2u : 1u)) {
    return report.Add(
        Problem::kNotServed, resource, path,
        fmt::format("the key is not that of {} object", namespaced ? "a namespaced" : "a cluster-scoped"));
  }
  if (location.builtin) return BuiltinCheck(*location.builtin, resource, path, value, report).Run();
  if (std::string why = CheckCustom(*location.custom, location.resource.group, value); !why.empty())
    report.Add(Problem::kUnreadable, resource, path, std::move(why));
}

}  // namespace apimesh::object_check
