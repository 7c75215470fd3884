#include <fmt/format.h>

#include <unordered_set>

#include "lib/base/seeded_hash.h"
#include "lib/patch/go_text.h"
#include "lib/patch/typed.h"
#include "lib/patch/typed_schema.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;
using schema::Type;

class Validator {
 public:
  explicit Validator(bool allow_duplicates) : allow_duplicates_(allow_duplicates) {}

  void Fields(const schema::Node& node, const json::object& object) {
    for (const auto& [key, value] : object) {
      if (IsFull(errors)) return;
      const std::size_t length = Enter(fmt::format(".{}", std::string_view(key)));
      if (const schema::Node* child = NodeOfKey(node, key)) {
        Value(*child, value);
      } else {
        Complain("field not declared in schema");
      }
      path_.resize(length);
    }
  }

  TypeErrors errors;

 private:
  void Value(const schema::Node& node, const json::value& value) {
    if (value.is_null() || IsFull(errors)) return;
    switch (ShapeOf(node, value)) {
      case Shape::kMap:
        if (!value.is_object()) return Complain(fmt::format("expected map, got {}", Shown(value)));
        return Fields(node, value.get_object());
      case Shape::kList:
        if (!value.is_array()) return Complain(fmt::format("expected list, got {}", Shown(value)));
        return Items(node, value.get_array());
      case Shape::kScalar: return Scalar(node, value);
    }
  }

  void Items(const schema::Node& node, const json::array& list) {
    std::unordered_set<std::string_view, SeededHash> seen;
    for (std::size_t i = 0; i < list.size() && !IsFull(errors); ++i) {
      std::string step = fmt::format("[{}]", i);
      if (!IsAtomicList(node)) {
        const ItemElement element = ElementOfItem(node, list[i], arena_);
        if (!element.error.empty()) return Complain(fmt::format("element {}: {}", i, element.error));
        step = element.element.ToString();
        if (!seen.insert(element.element.text).second && !allow_duplicates_) {
          Complain(fmt::format("duplicate entries for key {}", step));
        }
      }
      const std::size_t length = Enter(step);
      Value(NodeOfItem(node), list[i]);
      path_.resize(length);
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

  std::size_t Enter(std::string_view step) {
    const std::size_t length = path_.size();
    path_ += step;
    return length;
  }
  void Complain(std::string_view text) { AddTypeError(errors, path_.empty() ? std::string(text) : fmt::format("{}: {}", path_, text)); }

  bool allow_duplicates_;
  std::string path_;
  TextArena arena_;
};

/// The schema below a path element; nullptr where the schema does not tell.
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

/// Whether a set owns parts of something that is atomic.
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
  validator.Fields(node, value);
  return std::move(validator.errors);
}

bool ReconcileWithSchema(const schema::Node& node, FieldSet& set) {
  if (!OwnsPartsOfAtoms(node, set)) return false;
  set = WithWholeAtoms(node, set);
  return true;
}

}  // namespace apimesh::patch
