#include "lib/registry/scale.h"

#include <fmt/format.h>

#include "lib/meta/selectors/selector.h"

namespace apimesh::registry {
namespace {

namespace json = meta::json;

const json::value* At(const json::object& root, std::string_view path) {
  const json::object* here = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const json::value* value = meta::FindField(*here, path.substr(0, dot));
    if (!value || dot == std::string_view::npos) return value;
    if (!value->is_object()) return nullptr;
    here = &value->get_object();
    path.remove_prefix(dot + 1);
  }
}

void SetAt(json::object& root, std::string_view path, std::int64_t number) {
  json::object* here = &root;
  for (std::size_t dot; (dot = path.find('.')) != std::string_view::npos; path.remove_prefix(dot + 1)) {
    here = &meta::MakeObject(*here, path.substr(0, dot));
  }
  (*here)[json::string_view(path.data(), path.size())] = number;
}

std::int64_t NumberAt(const json::object& root, std::string_view path) {
  const json::value* value = At(root, path);
  return value && value->is_int64() ? value->get_int64() : 0;
}

std::string SelectorText(const json::value& value) {
  if (value.is_string()) return std::string(value.get_string());
  if (!value.is_object()) return "";
  const json::object& object = value.get_object();
  if (object.contains("matchLabels") || object.contains("matchExpressions")) {
    const meta::Result<meta::LabelSelector> selector = meta::LabelSelector::FromObject(object);
    return selector ? selector->ToString() : "";
  }
  json::object wrapped;
  wrapped["matchLabels"] = object;
  const meta::Result<meta::LabelSelector> selector = meta::LabelSelector::FromObject(wrapped);
  return selector ? selector->ToString() : "";
}

}  // namespace

meta::Object ScaleOf(const meta::Object& object, const ScalePaths& paths) {
  json::object root;
  root["kind"] = "Scale";
  root["apiVersion"] = "autoscaling/v1";
  json::object& metadata = root["metadata"].emplace_object();
  for (const std::string_view field : {"name", "namespace", "uid", "resourceVersion", "creationTimestamp"}) {
    if (const json::value* value = meta::FindField(object.Metadata(), field)) {
      metadata[json::string_view(field.data(), field.size())] = *value;
    }
  }
  json::object& spec = root["spec"].emplace_object();
  if (const std::int64_t replicas = NumberAt(object.Root(), paths.spec_replicas)) spec["replicas"] = replicas;
  json::object& status = root["status"].emplace_object();
  status["replicas"] = NumberAt(object.Root(), paths.status_replicas);
  if (!paths.selector.empty()) {
    if (const json::value* selector = At(object.Root(), paths.selector)) {
      if (const std::string text = SelectorText(*selector); !text.empty()) status["selector"] = text;
    }
  }
  return meta::Object(std::move(root));
}

bool HasReplicas(const meta::Object& object, const ScalePaths& paths) {
  const json::value* replicas = At(object.Root(), paths.spec_replicas);
  return replicas && !replicas->is_null();
}

meta::Result<> ApplyScale(const meta::Object& scale, meta::Object& object, const ScalePaths& paths) {
  const std::int64_t replicas = NumberAt(scale.Root(), "spec.replicas");
  if (replicas == kMissingReplicas) {
    return meta::BadRequest(
        fmt::format("the spec replicas field {} cannot be empty", meta::Quoted("." + paths.spec_replicas)));
  }
  if (replicas < 0) {
    return meta::Invalid(
        meta::GroupKind{"autoscaling", "Scale"}, scale.Name(),
        {meta::Invalid("spec.replicas", fmt::format("{}", replicas), "must be greater than or equal to 0")});
  }
  SetAt(object.Root(), paths.spec_replicas, replicas);
  return {};
}

}  // namespace apimesh::registry
