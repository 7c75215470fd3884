#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/base/text/text_index.h"
#include "lib/patch/apply/typed.h"
#include "lib/patch/apply/typed_schema.h"
#include "lib/patch/go_text.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using schema::Type;

class Validator {
 public:
  explicit Validator(bool allow_duplicates) : allow_duplicates_(allow_duplicates) {}

  /// `open`: an outer value of a custom resource preserves unknown fields, and so do all values in it.
  void Fields(const schema::Node& node, const json::object& object, bool open) {
    open = open || node.preserve_unknown_fields;
    for (const auto& [key, value] : object) {
      if (IsFull(errors) || Interrupted()) return;
      path_.push_back({PathElement::Kind::kField, key});
      const schema::Field* field = nullptr;
      const schema::Node* child = NodeOfKey(node, key, &field);
      if (child && (field || open || !DeclaresFields(node))) {
        Value(*child, value, open);
      } else {
        Complain("field not declared in schema");
      }
      path_.pop_back();
    }
  }

  TypeErrors errors;

  /// Returns whether the schema of a custom resource lists the fields of an object.
  static bool DeclaresFields(const schema::Node& node) {
    return node.custom && node.type == Type::kObject && !node.fields.empty() && !node.items;
  }

  void Value(const schema::Node& node, const json::value& value, bool open) {
    if (value.is_null() || IsFull(errors)) return;
    switch (ShapeOf(node, value)) {
      case Shape::kMap:
        if (!value.is_object()) return Complain(fmt::format("expected map, got {}", Shown(value)));
        return Fields(node, value.get_object(), open);
      case Shape::kList:
        if (!value.is_array()) return Complain(fmt::format("expected list, got {}", Shown(value)));
        return Items(node, value.get_array(), open || node.preserve_unknown_fields);
      case Shape::kScalar: return Scalar(node, value);
    }
  }

 private:
  void Items(const schema::Node& node, const json::array& list, bool open) {
    TextIndex seen;
    for (std::size_t i = 0; i < list.size() && !IsFull(errors) && !Interrupted(); ++i) {
      const fmt::format_int digits(i);
      PathElement step{PathElement::Kind::kIndex, {digits.data(), digits.size()}};
      if (!IsAtomicList(node)) {
        const ItemElement item = ElementOfItem(node, list[i], arena_);
        if (!item.error.empty()) return Complain(fmt::format("element {}: {}", i, item.error));
        step = item.element;
        if (!seen.Add(step.text).is_new && !allow_duplicates_) {
          Complain(fmt::format("duplicate entries for key {}", step.ToString()));
        }
      }
      path_.push_back(step);
      Value(NodeOfItem(node), list[i], open);
      path_.pop_back();
    }
  }

  void Scalar(const schema::Node& node, const json::value& value) {
    switch (node.type) {
      case Type::kInteger:
      case Type::kNumber:
        if (!value.is_number()) Complain(fmt::format("expected numeric (int or float), got {}", GoTypeOf(value)));
        return;
      case Type::kBoolean:
        if (!value.is_bool()) Complain(fmt::format("expected boolean, got {}", Shown(value)));
        return;
      case Type::kQuantity:
      case Type::kIntOrString:
        if (value.is_structured()) Complain(fmt::format("expected any scalar, got {}", Shown(value)));
        return;
      case Type::kString:
      case Type::kBytes:
      case Type::kTime:
      case Type::kMicroTime:
      case Type::kDuration:
        if (!value.is_string()) {
          Complain(fmt::format("expected string, got &value.valueUnstructured{{Value:{}}}",
                               value.is_structured() ? GoText(value) : json::serialize(value)));
        }
        return;
      default:
        if (value.is_structured()) Complain(fmt::format("expected any scalar, got {}", Shown(value)));
    }
  }

  static std::string Shown(const json::value& value) { return fmt::format("&{{{}}}", GoText(value)); }

  void Complain(std::string_view text) {
    if (IsFull(errors)) return;
    AddTypeError(errors, path_.empty() ? std::string(text) : fmt::format("{}: {}", ToString(path_), text));
  }

  bool allow_duplicates_;
  FieldSet::Path path_;  // converted to text only for an error
  TextArena arena_;
};

/// Returns the schema of a path element; nullptr if the schema does not specify it.
const schema::Node* Below(const schema::Node& node, const PathElement& element) {
  const bool field = element.kind == PathElement::Kind::kField;
  if (field == (node.type == Type::kList)) return nullptr;
  const schema::Node* child = field ? NodeOfKey(node, element.text) : &NodeOfItem(node);
  return child && HasFixedShape(*child) ? child : nullptr;
}

bool IsAtomic(const schema::Node& node) {
  if (node.type == Type::kList) return IsAtomicList(node);
  return (node.type == Type::kObject || node.type == Type::kMap) && IsAtomicMap(node);
}

/// Returns whether a set contains paths inside an atomic value.
bool OwnsPartsOfAtoms(const schema::Node& node, const FieldSet& set) {
  for (const FieldSet::Entry& entry : set.Entries()) {
    if (entry.children.Empty()) continue;
    const schema::Node* child = Below(node, entry.element);
    if (child && (IsAtomic(*child) || OwnsPartsOfAtoms(*child, entry.children))) return true;
  }
  return false;
}

FieldSet WithWholeAtoms(const schema::Node& node, const FieldSet& set) {
  FieldSet out;
  for (const FieldSet::Entry& entry : set.Entries()) {
    const schema::Node* child = entry.children.Empty() ? nullptr : Below(node, entry.element);
    if (!child) {
      out.Append(entry.element, entry.member, entry.children);
    } else if (IsAtomic(*child)) {
      out.Append(entry.element, true, {});
    } else {
      out.Append(entry.element, entry.member, WithWholeAtoms(*child, entry.children));
    }
  }
  return out;
}

}  // namespace

bool IsFull(const TypeErrors& errors) {
  constexpr std::size_t kMaxErrors = 1000;
  constexpr std::size_t kMaxBytes = 1 << 20;
  if (errors.size() >= kMaxErrors) return true;
  std::size_t bytes = 0;
  for (const std::string& error : errors) bytes += error.size();
  return bytes >= kMaxBytes;
}

void AddTypeError(TypeErrors& errors, std::string error) {
  if (!IsFull(errors)) errors.push_back(std::move(error));
}

std::string ToString(const TypeErrors& errors) {
  if (errors.size() == 1) return errors[0];
  std::string out = "errors:";
  for (const std::string& error : errors) out += "\n  " + error;
  return out;
}

TypeErrors ValidateTypes(const schema::Node& node, const json::object& value, bool allow_duplicates) {
  Validator validator(allow_duplicates);
  validator.Fields(node, value, false);
  return std::move(validator.errors);
}

bool FitsType(const schema::Node& node, const json::value& value) {
  Validator validator(true);
  validator.Value(node, value, true);
  return validator.errors.empty();
}

bool ReconcileWithSchema(const schema::Node& node, FieldSet& set) {
  if (!OwnsPartsOfAtoms(node, set)) return false;
  set = WithWholeAtoms(node, set);
  return true;
}

}  // namespace apimesh::patch
