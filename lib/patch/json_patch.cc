#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "lib/patch/patch.h"
#include "lib/patch/patch_error.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;

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
  if (!place) return false;
  array.insert(array.begin() + static_cast<std::ptrdiff_t>(*place), std::move(value));
  return true;
}

bool Remove(const Target& target) {
  if (json::object* object = target.container->if_object()) return meta::EraseField(*object, target.key);
  json::array& array = target.container->get_array();
  const std::optional<std::size_t> place = Place(target.key, array.size());
  if (!place) return false;
  array.erase(array.begin() + static_cast<std::ptrdiff_t>(*place));
  return true;
}

/// The value at a target. A missing key of an object reads as null, a bad index is an error (nullopt).
std::optional<json::value> Get(const Target& target, const json::storage_ptr& storage) {
  if (const json::value* value = Step(*target.container, target.key)) return json::value(*value, storage);
  if (target.container->is_object()) return json::value(nullptr, storage);
  return std::nullopt;
}

class Patcher {
 public:
  explicit Patcher(json::value& document) : document_(document), storage_(document.storage()) {}

  bool Run(const json::object& operation) {
    const std::string_view op = meta::FindString(operation, "op");
    const json::value* path_value = meta::FindField(operation, "path");
    if (!path_value || !path_value->is_string()) return false;
    const std::string_view path = path_value->get_string();
    const json::value* value = meta::FindField(operation, "value");
    const json::value given = value ? json::value(*value, storage_) : json::value(nullptr, storage_);
    if (op == "replace" && path.empty()) {
      if (!given.is_structured()) return false;
      document_ = given;
      return true;
    }
    if (op == "test" && path.empty()) return document_ == given;
    if (op == "move" || op == "copy") return MoveOrCopy(operation, path, op == "move");
    const std::optional<Target> target = FindTarget(document_, path);
    if (!target) return false;
    if (op == "add") return Add(*target, given);
    if (op == "remove") return Remove(*target);
    if (op == "replace") return Replace(*target, given);
    if (op != "test") return false;
    const std::optional<json::value> found = Get(*target, storage_);
    return found && *found == given;
  }

 private:
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
    const std::optional<json::value> value = Get(*source, storage_);
    if (!value) return false;
    if (move) {
      if (!Remove(*source)) return false;
    } else {
      copied_ += json::serialize(*value).size();
      if (copied_ > kMaxCopiedBytes) return false;
    }
    const std::optional<Target> target = FindTarget(document_, path);
    return target && Add(*target, *value);
  }

  json::value& document_;
  json::storage_ptr storage_;
  std::size_t copied_ = 0;
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
    if (!patcher.Run(operation.get_object())) return DoesNotApply();
  }
  return {};
}

}  // namespace apimesh::patch
