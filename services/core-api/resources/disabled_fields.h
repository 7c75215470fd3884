#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/object.h"
#include "lib/registry/resource.h"

/// Fields that belong to features that are off. A write drops them, unless the stored object uses the feature already.
namespace apimesh::core_api {

/// A field of a feature. `type` is the name of the message without its version: "core.Lifecycle" is
/// io.k8s.api.core.v1.Lifecycle.
struct FeatureField {
  std::string_view feature;
  std::string_view type;
  std::string_view field;
  bool drops_empty_parent = false;  // the object that contains the field is dropped if nothing else is in it
  std::string_view list = "";       // only the objects of the list with this name; empty: all objects of the type
  std::string_view kept = "";       // a value that does not belong to the feature
};

/// The occurrences of these fields in the objects of one kind.
class DisabledFields {
 public:
  bool Empty() const { return features_.empty(); }
  /// Removes the fields of every feature that `old` does not use, or sets them to their constant defaults. `old` is
  /// nullptr for a create.
  void Drop(meta::Object& object, const meta::Object* old) const;

 private:
  friend class DisabledFieldFinder;
  /// The names of the fields on the way from the object to the field, including its own. "*" stands for all values of a
  /// map. A list is entered without a name.
  struct Occurrence {
    std::vector<std::string> names;
    bool drops_empty_parent;
    std::string_view kept;
    /// The constant default of the field. kube-apiserver sets it again when it reads the object.
    std::optional<meta::json::value> default_value;
  };
  std::vector<std::vector<Occurrence>> features_;  // one element per feature
};

/// Finds the occurrences of fields in schemas. Remembers which types contain none of the fields, so that one finder
/// should be used for all kinds.
class DisabledFieldFinder {
 public:
  explicit DisabledFieldFinder(std::vector<FeatureField> fields);
  DisabledFields Find(const schema::Node& kind);

 private:
  bool Search(const schema::Node& node, std::vector<std::string>& way);

  const std::vector<FeatureField> fields_;
  std::map<const schema::Node*, bool> contains_;                               // false: nothing to find below this node
  std::map<std::string_view, std::vector<DisabledFields::Occurrence>> found_;  // by feature, of the current Find()
};

/// Returns a strategy that drops the fields from every object before `inner` prepares it for a write.
registry::StrategyPtr DroppingFields(registry::StrategyPtr inner, std::shared_ptr<const DisabledFields> fields);

}  // namespace apimesh::core_api
