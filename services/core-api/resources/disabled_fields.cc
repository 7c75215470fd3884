#include "services/core-api/resources/disabled_fields.h"

#include <algorithm>

namespace apimesh::core_api {
namespace {

namespace json = meta::json;
using Names = std::span<const std::string>;

constexpr std::string_view kEveryValue = "*";  // in a list of names: all values of a map
constexpr std::size_t kMaxDepth = 24;          // schemas of built-in kinds are less deep, unless they are recursive

/// Returns whether a definition such as "io.k8s.api.core.v1.Lifecycle" is the type "core.Lifecycle".
bool IsType(std::string_view definition, std::string_view type) {
  constexpr std::string_view kPrefix = "io.k8s.api.";
  if (!definition.starts_with(kPrefix)) return false;
  definition.remove_prefix(kPrefix.size());
  const std::size_t group = definition.find('.'), name = definition.rfind('.'), dot = type.find('.');
  return group != definition.npos && name > group && definition.substr(0, group) == type.substr(0, dot) &&
         definition.substr(name + 1) == type.substr(dot + 1);
}

bool Uses(const json::object& object, Names names, std::string_view kept);

bool ValueUses(const json::value& value, Names names, std::string_view kept) {
  if (names.empty()) return !value.is_null() && (kept.empty() || !value.is_string() || value.get_string() != kept);
  if (value.is_array()) {
    return std::any_of(value.get_array().begin(), value.get_array().end(),
                       [&](const json::value& element) { return ValueUses(element, names, kept); });
  }
  return value.is_object() && Uses(value.get_object(), names, kept);
}

/// Whether the object has the field that `names` leads to, with another value than `kept`.
bool Uses(const json::object& object, Names names, std::string_view kept) {
  if (names.front() == kEveryValue) {
    return std::any_of(object.begin(), object.end(),
                       [&](const auto& member) { return ValueUses(member.value(), names.subspan(1), kept); });
  }
  const json::value* field = meta::FindField(object, names.front());
  return field && ValueUses(*field, names.subspan(1), kept);
}

/// What to do with a field that is found.
struct Removal {
  bool drops_empty_parent;
  std::string_view kept;
  const json::value* default_value;  // nullptr: the field is removed
};

void Remove(json::object& object, Names names, const Removal& removal);

void RemoveFromValue(json::value& value, Names names, const Removal& removal) {
  if (value.is_array()) {
    for (json::value& element : value.get_array()) RemoveFromValue(element, names, removal);
  } else if (value.is_object()) {
    Remove(value.get_object(), names, removal);
  }
}

void Remove(json::object& object, Names names, const Removal& removal) {
  if (names.front() == kEveryValue) {
    for (auto& member : object) RemoveFromValue(member.value(), names.subspan(1), removal);
    return;
  }
  if (names.size() == 1) {
    if (!Uses(object, names, removal.kept)) return;
    if (removal.default_value && meta::FindField(object, names.front())) {
      object[names.front()] = *removal.default_value;
    } else {
      meta::EraseField(object, names.front());
    }
    return;
  }
  json::value* field = meta::FindField(object, names.front());
  if (!field || !Uses(object, names, removal.kept)) return;
  RemoveFromValue(*field, names.subspan(1), removal);
  const bool is_empty = field->is_object() && field->get_object().empty();
  if (removal.drops_empty_parent && names.size() == 2 && is_empty) meta::EraseField(object, names.front());
}

class DroppingStrategy final : public registry::Strategy {
 public:
  DroppingStrategy(registry::StrategyPtr inner, std::shared_ptr<const DisabledFields> fields)
      : inner_(std::move(inner)), fields_(std::move(fields)) {}

  void Default(json::object& object) const override { inner_->Default(object); }
  void PrepareForCreate(const meta::RequestContext& ctx, meta::Object& object) const override {
    fields_->Drop(object, nullptr);
    inner_->PrepareForCreate(ctx, object);
  }
  meta::FieldErrors Validate(const meta::RequestContext& ctx, const meta::Object& object) const override {
    return inner_->Validate(ctx, object);
  }
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    fields_->Drop(object, &old);
    inner_->PrepareForUpdate(ctx, object, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    return inner_->ValidateUpdate(ctx, object, old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext& ctx, const meta::Object& object,
                                    const meta::Object* old) const override {
    return inner_->Warnings(ctx, object, old);
  }
  bool AllowCreateOnUpdate() const override { return inner_->AllowCreateOnUpdate(); }
  bool AllowUnconditionalUpdate() const override { return inner_->AllowUnconditionalUpdate(); }
  meta::Result<> CheckDelete(const meta::Object& object) const override { return inner_->CheckDelete(object); }
  bool OrphansByDefault() const override { return inner_->OrphansByDefault(); }
  std::string_view DefaultPropagationWarning() const override { return inner_->DefaultPropagationWarning(); }
  bool HoldsBackDeletion(const meta::Object& object) const override { return inner_->HoldsBackDeletion(object); }
  void PrepareForDelete(meta::Object& object) const override { inner_->PrepareForDelete(object); }
  std::optional<std::int64_t> GracePeriod(const meta::Object& object,
                                          std::optional<std::int64_t> asked) const override {
    return inner_->GracePeriod(object, asked);
  }

 private:
  const registry::StrategyPtr inner_;
  const std::shared_ptr<const DisabledFields> fields_;
};

}  // namespace

void DisabledFields::Drop(meta::Object& object, const meta::Object* old) const {
  for (const std::vector<Occurrence>& occurrences : features_) {
    const auto uses = [&occurrences](const json::object& root) {
      return std::any_of(occurrences.begin(), occurrences.end(), [&root](const Occurrence& occurrence) {
        return Uses(root, occurrence.names, occurrence.kept);
      });
    };
    if (!uses(object.Root()) || (old && uses(old->Root()))) continue;
    for (const Occurrence& occurrence : occurrences) {
      const json::value* default_value = occurrence.default_value ? &*occurrence.default_value : nullptr;
      Remove(object.Root(), occurrence.names, {occurrence.drops_empty_parent, occurrence.kept, default_value});
    }
  }
}

registry::StrategyPtr DroppingFields(registry::StrategyPtr inner, std::shared_ptr<const DisabledFields> fields) {
  return std::make_shared<DroppingStrategy>(std::move(inner), std::move(fields));
}

DisabledFieldFinder::DisabledFieldFinder(std::vector<FeatureField> fields) : fields_(std::move(fields)) {}

DisabledFields DisabledFieldFinder::Find(const schema::Node& kind) {
  found_.clear();
  std::vector<std::string> way;
  Search(kind, way);
  DisabledFields result;
  for (auto& [feature, occurrences] : found_) result.features_.push_back(std::move(occurrences));
  return result;
}

bool DisabledFieldFinder::Search(const schema::Node& node, std::vector<std::string>& way) {
  const auto known = contains_.find(&node);
  if ((known != contains_.end() && !known->second) || way.size() > kMaxDepth) return false;
  bool found = false;
  if (node.type == schema::Type::kList && node.items) {
    found = Search(*node.items, way);
  } else if (node.type == schema::Type::kMap && node.items) {
    way.emplace_back(kEveryValue);
    found = Search(*node.items, way);
    way.pop_back();
  } else if (node.type == schema::Type::kObject) {
    if (known == contains_.end()) contains_[&node] = false;  // ends recursion; corrected below
    for (const schema::Field& field : node.fields) {
      way.push_back(field.name);
      for (const FeatureField& wanted : fields_) {
        if (field.name != wanted.field || !IsType(node.name, wanted.type)) continue;
        if (!wanted.list.empty() && (way.size() < 2 || way[way.size() - 2] != wanted.list)) continue;
        found_[wanted.feature].push_back({way, wanted.drops_empty_parent, wanted.kept, field.default_value});
        found = true;
      }
      found = Search(*field.schema, way) || found;
      way.pop_back();
    }
  }
  contains_[&node] = found;
  return found;
}

}  // namespace apimesh::core_api
