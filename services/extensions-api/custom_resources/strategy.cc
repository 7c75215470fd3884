#include "services/extensions-api/custom_resources/strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <limits>

#include "lib/meta/equal.h"
#include "lib/meta/names.h"
#include "lib/registry/object_meta.h"
#include "lib/schema/validation.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

const json::value* At(const json::object& root, std::string_view dotted) {
  const json::object* here = &root;
  for (;;) {
    const std::size_t dot = dotted.find('.');
    const json::value* value = meta::FindField(*here, dotted.substr(0, dot));
    if (!value || dot == std::string_view::npos) return value;
    if (!value->is_object()) return nullptr;
    here = &value->get_object();
    dotted.remove_prefix(dot + 1);
  }
}

bool SameAt(const json::object& a, const json::object& b, std::string_view dotted) {
  const json::value* left = At(a, dotted);
  const json::value* right = At(b, dotted);
  return left && right && meta::Equal(*left, *right);
}

/// What an update need not mend: complaints about values that it does not touch. Elements of lists count as a whole.
void ForgiveUnchanged(FieldErrors& errors, const json::object& root, const json::object& old) {
  std::map<std::string, bool> same;
  const auto unchanged = [&](const meta::FieldError& error) {
    std::string field = error.field.substr(0, error.field.find('['));
    if (error.type == meta::FieldError::Type::kRequired && field == error.field) {
      const std::size_t dot = field.rfind('.');
      if (dot == std::string::npos) return false;
      field.resize(dot);
    }
    // Values can be large, and have many errors.
    const auto [known, is_new] = same.try_emplace(field, false);
    if (is_new) known->second = SameAt(root, old, field);
    return known->second;
  };
  errors.EraseIf(unchanged);
}

void CheckReplicas(const json::object& root, const std::string& path, FieldErrors& errors) {
  const json::value* value = At(root, path);
  if (!value) return;
  const std::string field = "." + path;
  if (!value->is_int64()) {
    errors.push_back(meta::Invalid(field, "0", fmt::format("{} accessor error: {} is of the type {}, expected int64", field, json::serialize(*value),
                                                           value->is_string() ? "string" : value->is_double() ? "float64" : "interface {}")));
  } else if (value->get_int64() < 0) {
    errors.push_back(meta::Invalid(field, std::to_string(value->get_int64()), "should be a non-negative integer"));
  } else if (value->get_int64() > std::numeric_limits<std::int32_t>::max()) {
    errors.push_back(meta::Invalid(field, std::to_string(value->get_int64()), "should be less than or equal to 2147483647"));
  }
}

void WarnOfFinalizers(const meta::Object& object, const meta::Object* old, std::vector<std::string>& warnings) {
  std::vector<std::string> before = old ? registry::Finalizers(*old) : std::vector<std::string>();
  std::sort(before.begin(), before.end());
  for (const std::string& name : registry::Finalizers(object)) {
    if (std::binary_search(before.begin(), before.end(), name)) continue;
    const std::string start = fmt::format("metadata.finalizers: {}: ", meta::Quoted(name));
    for (const std::string& complaint : meta::CheckQualifiedName(name)) warnings.push_back(start + complaint);
    if (name.find('/') != std::string::npos || name == "orphan" || name == "foregroundDeletion" || name == "kubernetes") continue;
    warnings.push_back(start + (name.find('.') != std::string::npos
                                    ? "prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers"
                                    : "prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers"));
  }
}

class CustomStrategy : public registry::Strategy {
 public:
  explicit CustomStrategy(CustomStrategyOptions options) : options_(std::move(options)) {}

  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    if (options_.has_status) meta::EraseField(object.Root(), "status");
  }
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    const json::value* before = meta::FindField(old.Root(), "status");
    if (options_.has_status) {
      if (before) {
        object.Root()["status"] = *before;
      } else {
        meta::EraseField(object.Root(), "status");
      }
      return;
    }
    // Without the subresource, status is a field like any other: its changes count.
    const json::value* now = meta::FindField(object.Root(), "status");
    if (!meta::Equal(now, before)) object.SetMeta("generation", old.Generation() + 1);
  }
  FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    FieldErrors errors = schema::ValidateCustomResource(object.Root(), *options_.node);
    CheckScale(object, errors);
    return errors;
  }
  FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object, const meta::Object& old) const override {
    FieldErrors errors = schema::ValidateCustomResource(object.Root(), *options_.node);
    if (!errors.empty()) ForgiveUnchanged(errors, object.Root(), old.Root());
    CheckScale(object, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object, const meta::Object* old) const override {
    std::vector<std::string> warnings;
    WarnOfFinalizers(object, old, warnings);
    return warnings;
  }
  bool AllowUnconditionalUpdate() const override { return false; }

 protected:
  void CheckScale(const meta::Object& object, FieldErrors& errors) const {
    if (!options_.scale) return;
    CheckReplicas(object.Root(), options_.scale->spec_replicas, errors);
    CheckReplicas(object.Root(), options_.scale->status_replicas, errors);
  }
  const CustomStrategyOptions options_;
};

class CustomStatusStrategy final : public CustomStrategy {
 public:
  using CustomStrategy::CustomStrategy;

  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    meta::Object kept = old;
    const auto take = [](json::object& to, const json::object& from, std::string_view field) {
      if (const json::value* value = meta::FindField(from, field)) {
        to[json::string_view(field.data(), field.size())] = *value;
      } else {
        meta::EraseField(to, field);
      }
    };
    take(kept.Root(), object.Root(), "status");
    take(kept.Metadata(), object.Metadata(), "managedFields");
    object = std::move(kept);
  }
  FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object, const meta::Object& old) const override {
    FieldErrors errors = CustomStrategy::ValidateUpdate(ctx, object, old);
    errors.EraseIf([](const meta::FieldError& error) { return !error.field.starts_with("status") && !error.field.starts_with(".status") && error.field != "<nil>"; });
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object&, const meta::Object*) const override { return {}; }
};

}  // namespace

registry::StrategyPtr MakeCustomStrategy(CustomStrategyOptions options) { return std::make_shared<CustomStrategy>(std::move(options)); }
registry::StrategyPtr MakeCustomStatusStrategy(CustomStrategyOptions options) { return std::make_shared<CustomStatusStrategy>(std::move(options)); }

}  // namespace apimesh::extensions_api
