#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "lib/patch/patch.h"
#include "lib/patch/patch_error.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;
// An operation may move all items of a list, or compare all of a document: so many items and values per patch.
constexpr std::size_t kMaxWork = 10'000'000;

std::string_view TypeName(const json::value& value) {
  switch (value.kind()) {
    case json::kind::object: return "object";
    case json::kind::array: return "array";
    case json::kind::string: return "string";
    case json::kind::bool_: return "bool";
    case json::kind::null: return "null";
    default: return "number";
  }
}

std::string DecodeKey(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      out += text[++i] == '0' ? '~' : '/';
    } else {
      out += text[i];
    }
  }
  return out;
}

/// A number as Go's Atoi reads it.
std::optional<std::int64_t> ParseIndex(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

/// An index into `size` places; negative ones count from the end.
std::optional<std::size_t> Place(std::string_view text, std::size_t size) {
  std::optional<std::int64_t> index = ParseIndex(text);
  if (!index) return std::nullopt;
  const auto count = static_cast<std::int64_t>(size);
  if (*index < 0) *index += count;
  if (*index < 0 || *index >= count) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

json::value* Step(json::value& container, std::string_view key) {
  if (json::object* object = container.if_object()) return meta::FindField(*object, key);
  if (json::array* array = container.if_array()) {
    const std::optional<std::size_t> place = Place(key, array->size());
    return place ? &(*array)[*place] : nullptr;
  }
  return nullptr;
}

/// Where an operation works: a container, and the key or index in it.
struct Target {
  json::value* container = nullptr;
  std::string key;
};

std::optional<Target> FindTarget(json::value& document, std::string_view path) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  json::value* at = &document;
  while (true) {
    const std::size_t slash = path.find('/');
    std::string key = DecodeKey(path.substr(0, slash));
    if (slash == std::string_view::npos) {
      if (!at->is_structured()) return std::nullopt;
      return Target{at, std::move(key)};
    }
    at = Step(*at, key);
    if (!at || !at->is_structured()) return std::nullopt;
    path.remove_prefix(slash + 1);
  }
}

class Patcher {
 public:
  explicit Patcher(json::value& document) : document_(document), storage_(document.storage()) {}

  bool Run(const json::object& operation) {
    const std::string_view op = meta::FindString(operation, "op");
    const json::value* path_value = meta::FindField(operation, "path");
    if (!path_value || !path_value->is_string()) return false;
    const std::string_view path = path_value->get_string();
    static const json::value null;
    const json::value* value = meta::FindField(operation, "value");
    const json::value& given = value ? *value : null;
    if (op == "replace" && path.empty()) {
      if (!given.is_structured()) return false;
      document_ = json::value(given, storage_);
      return true;
    }
    if (op == "test" && path.empty()) return Equal(document_, given);
    if (op == "move" || op == "copy") return MoveOrCopy(operation, path, op == "move");
    const std::optional<Target> target = FindTarget(document_, path);
    if (!target) return false;
    if (op == "add") return Add(*target, json::value(given, storage_));
    if (op == "remove") return Remove(*target);
    if (op == "replace") return Replace(*target, given);
    if (op != "test") return false;
    const json::value* found = Find(*target);
    return found && Equal(*found, given);
  }

  /// Whether the patch was given up because it takes too long.
  bool Exhausted() const { return work_ > kMaxWork; }

 private:
  bool Spend(std::size_t work) {
    work_ += work;
    return !Exhausted();
  }

  bool Add(const Target& target, json::value value) {
    if (json::object* object = target.container->if_object()) {
      (*object)[target.key] = std::move(value);
      return true;
    }
    json::array& array = target.container->get_array();
    if (target.key == "-") {
      array.push_back(std::move(value));
      return true;
    }
    const std::optional<std::size_t> place = Place(target.key, array.size() + 1);
    if (!place || !Spend(array.size() - *place)) return false;
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(*place), std::move(value));
    return true;
  }

  bool Remove(const Target& target) {
    if (json::object* object = target.container->if_object()) return Spend(object->size()) && meta::EraseField(*object, target.key);
    json::array& array = target.container->get_array();
    const std::optional<std::size_t> place = Place(target.key, array.size());
    if (!place || !Spend(array.size() - *place)) return false;
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(*place));
    return true;
  }

  /// The value at a target. A missing key of an object reads as null, a bad index is an error (nullptr).
  static const json::value* Find(const Target& target) {
    static const json::value null;
    if (const json::value* value = Step(*target.container, target.key)) return value;
    return target.container->is_object() ? &null : nullptr;
  }

  /// The reference's library lets "replace" make a missing key of an object, as "add" does.
  bool Replace(const Target& target, const json::value& given) {
    if (json::object* object = target.container->if_object()) {
      (*object)[target.key] = given;
      return true;
    }
    json::value* place = Step(*target.container, target.key);
    if (place) *place = given;
    return place != nullptr;
  }

  bool MoveOrCopy(const json::object& operation, std::string_view path, bool move) {
    const json::value* from = meta::FindField(operation, "from");
    if (!from || !from->is_string()) return false;
    const std::optional<Target> source = FindTarget(document_, from->get_string());
    if (!source) return false;
    const json::value* found = Find(*source);
    if (!found) return false;
    json::value value(storage_);
    if (move) {
      if (json::value* place = Step(*source->container, source->key)) value = std::move(*place);
      if (!Remove(*source)) return false;
    } else {
      copied_ += json::serialize(*found).size();
      if (copied_ > kMaxCopiedBytes) return false;
      value = *found;
    }
    const std::optional<Target> target = FindTarget(document_, path);
    return target && Add(*target, std::move(value));
  }

  /// As operator== does, within the limit of work.
  bool Equal(const json::value& a, const json::value& b) {
    if (!Spend(1)) return false;
    if (a.kind() != b.kind()) return !a.is_structured() && !b.is_structured() && a == b;
    if (a.is_array()) {
      const json::array &left = a.get_array(), &right = b.get_array();
      return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                        [this](const json::value& x, const json::value& y) { return Equal(x, y); });
    }
    if (a.is_object()) {
      const json::object &left = a.get_object(), &right = b.get_object();
      if (left.size() != right.size()) return false;
      return std::all_of(left.begin(), left.end(), [&](const auto& member) {
        const json::value* other = right.if_contains(member.key());
        return other && Equal(member.value(), *other);
      });
    }
    return Spend(a.is_string() ? a.get_string().size() / 64 : 0) && a == b;
  }

  json::value& document_;
  json::storage_ptr storage_;
  std::size_t copied_ = 0;
  std::size_t work_ = 0;
};

}  // namespace

meta::Result<> ApplyJsonPatch(json::value& document, const json::value& patch) {
  if (!patch.is_array()) {
    return meta::BadRequest(fmt::format(
        "error decoding patch: json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp", TypeName(patch)));
  }
  const json::array& operations = patch.get_array();
  for (const json::value& operation : operations) {
    if (operation.is_object()) continue;
    return meta::BadRequest(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                    TypeName(operation)));
  }
  if (operations.size() > kMaxOperations) {
    return meta::RequestEntityTooLarge(fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                                   kMaxOperations, operations.size()));
  }
  Patcher patcher(document);
  for (const json::value& operation : operations) {
    const bool applies = patcher.Run(operation.get_object());
    if (patcher.Exhausted()) return meta::RequestEntityTooLarge("The JSON patch moves or compares too many values");
    if (!applies) return DoesNotApply();
  }
  return {};
}

}  // namespace apimesh::patch
