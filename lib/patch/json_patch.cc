#include <algorithm>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "lib/patch/patch.h"
#include "lib/patch/patch_error.h"

namespace apimesh::patch {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxOperations = 10'000;
constexpr std::size_t kMaxCopiedBytes = 3 * 1024 * 1024;
// One operation may move all items of a list or compare a complete document, so the number of items and values that a
// patch touches is limited.
constexpr std::size_t kMaxWork = 10'000'000;
constexpr std::string_view kTooMuchWork = "The JSON patch moves or compares too many values";

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

/// Parses a number as Go's Atoi does.
std::optional<std::int64_t> ParseIndex(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return index;
}

/// Parses an index into a list of `size` positions; negative indexes count from the end.
std::optional<std::size_t> Place(std::string_view text, std::size_t size) {
  std::optional<std::int64_t> index = ParseIndex(text);
  if (!index) return std::nullopt;
  const auto count = static_cast<std::int64_t>(size);
  if (*index < 0) *index += count;
  if (*index < 0 || *index >= count) return std::nullopt;
  return static_cast<std::size_t>(*index);
}

/// Returns what Go's library says about a key that is not a valid index of a list.
std::string IndexError(std::string_view key) {
  const std::optional<std::int64_t> index = ParseIndex(key);
  if (!index) return fmt::format("strconv.Atoi: parsing \"{}\": invalid syntax", key);
  return fmt::format("Unable to access invalid index: {}: invalid index referenced", *index);
}

json::value* Step(json::value& container, std::string_view key) {
  if (json::object* object = container.if_object()) return meta::FindField(*object, key);
  if (json::array* array = container.if_array()) {
    const std::optional<std::size_t> place = Place(key, array->size());
    return place ? &(*array)[*place] : nullptr;
  }
  return nullptr;
}

/// The target of an operation: a container, and the key or index in it.
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
    if (!path_value || !path_value->is_string()) {
      return Fail("{} operation failed to decode path: {}missing value", op,
                  op == "replace" || op == "test" || op == "move" ? "operation missing path field: " : "");
    }
    const std::string_view path = path_value->get_string();
    static const json::value null;
    const json::value* value = meta::FindField(operation, "value");
    const json::value& given = value ? *value : null;
    if (op == "replace" && path.empty()) {
      if (!given.is_structured()) return Fail("replace operation value must be object or array: %!w(<nil>)");
      document_ = json::value(given, storage_);
      return true;
    }
    if (op == "test" && path.empty()) return Equal(document_, given) || FailTest(path);
    if (op == "move" || op == "copy") return MoveOrCopy(operation, path, op == "move");
    if (op != "add" && op != "remove" && op != "replace" && op != "test") return Fail("Unexpected kind: {}", op);
    const std::optional<Target> target = FindTarget(document_, path);
    if (!target) {
      if (op == "add" || op == "remove")
        return Fail("{} operation does not apply: doc is missing path: \"{}\": missing value", op, path);
      return Fail("{} operation does not apply: {}is missing path: {}: missing value", op, op == "test" ? "" : "doc ",
                  path);
    }
    if (op == "add")
      return Add(*target, json::value(given, storage_)) || Fail("error in add for path: '{}': {}", path, why_);
    if (op == "remove") return Remove(*target) || Fail("error in remove for path: '{}': {}", path, why_);
    if (op == "replace")
      return Replace(*target, given) ||
             Fail("replace operation does not apply: doc is missing key: {}: missing value", path);
    const json::value* found = Find(*target);
    if (!found) return Fail("error in test for path: '{}': {}", path, IndexError(target->key));
    return Equal(*found, given) || FailTest(path);
  }

  /// Returns whether the patch was aborted because it exceeds the limit of work.
  bool Exhausted() const { return work_ > kMaxWork; }
  /// Returns why Run() failed.
  const JsonPatchFailure& Failure() const { return failure_; }

 private:
  bool Spend(std::size_t work) {
    work_ += work;
    return !Exhausted();
  }
  template <class... Args>
  bool Fail(fmt::format_string<Args...> text, Args&&... args) {
    failure_.text = fmt::format(text, std::forward<Args>(args)...);
    return false;
  }
  bool FailTest(std::string_view path) {
    failure_.test_failed = true;
    return Fail("testing value {} failed: test failed", path);
  }
  /// Records why a container does not accept a key. Returns false.
  bool Reject(std::string why) {
    why_ = std::move(why);
    return false;
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
    if (!place) {
      const bool number = ParseIndex(target.key).has_value();
      return Reject(
          number ? IndexError(target.key)
                 : fmt::format("value was not a proper array index: '{}': {}", target.key, IndexError(target.key)));
    }
    if (!Spend(array.size() - *place)) return false;
    array.insert(array.begin() + static_cast<std::ptrdiff_t>(*place), std::move(value));
    return true;
  }

  bool Remove(const Target& target) {
    if (json::object* object = target.container->if_object()) {
      if (Spend(object->size()) && meta::EraseField(*object, target.key)) return true;
      return Reject(fmt::format("Unable to remove nonexistent key: {}: missing value", target.key));
    }
    json::array& array = target.container->get_array();
    const std::optional<std::size_t> place = Place(target.key, array.size());
    if (!place) return Reject(IndexError(target.key));
    if (!Spend(array.size() - *place)) return false;
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(*place));
    return true;
  }

  /// Returns the value at a target. A missing key of an object reads as null, an invalid index gives nullptr.
  static const json::value* Find(const Target& target) {
    static const json::value null;
    if (const json::value* value = Step(*target.container, target.key)) return value;
    return target.container->is_object() ? &null : nullptr;
  }

  /// As in kube-apiserver's library, "replace" creates a missing key of an object, like "add".
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
    const char* const op = move ? "move" : "copy";
    const json::value* from_value = meta::FindField(operation, "from");
    if (!from_value || !from_value->is_string())
      return Fail("{} operation failed to decode from: operation, missing from field: missing value", op);
    const std::string_view from = from_value->get_string();
    const std::optional<Target> source = FindTarget(document_, from);
    if (!source) return Fail("{} operation does not apply: doc is missing from path: {}: missing value", op, from);
    const json::value* found = Find(*source);
    if (!found) {
      if (move) return Fail("error in move for path: '{}': {}", source->key, IndexError(source->key));
      return Fail("error in copy for from: '{}': {}", from, IndexError(source->key));
    }
    json::value value(storage_);
    if (move) {
      if (json::value* place = Step(*source->container, source->key)) value = std::move(*place);
      if (!Remove(*source)) return Fail("error in move for path: '{}': {}", source->key, why_);
    } else {
      copied_ += json::serialize(*found).size();
      if (copied_ > kMaxCopiedBytes) {
        return Fail("Unable to complete the copy, the accumulated size increase of copy is {}, exceeding the limit {}",
                    copied_, kMaxCopiedBytes);
      }
      value = *found;
    }
    const std::optional<Target> target = FindTarget(document_, path);
    if (!target)
      return Fail("{} operation does not apply: doc is missing destination path: {}: missing value", op, path);
    if (Add(*target, std::move(value))) return true;
    if (move) return Fail("error in move for path: '{}': {}", path, why_);
    return Fail("error while adding value during copy: {}", why_);
  }

  /// Compares like operator==, within the limit of work.
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
  JsonPatchFailure failure_;
  std::string why_;  // set by Add() and Remove() if they fail
};

}  // namespace

meta::Result<> ApplyJsonPatch(json::value& document, const json::value& patch) {
  if (!patch.is_array()) {
    return meta::BadRequest(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value of type []handlers.jsonPatchOp",
                    TypeName(patch)));
  }
  const json::array& operations = patch.get_array();
  for (const json::value& operation : operations) {
    if (operation.is_object()) continue;
    return meta::BadRequest(
        fmt::format("error decoding patch: json: cannot unmarshal {} into Go value of type handlers.jsonPatchOp",
                    TypeName(operation)));
  }
  if (operations.size() > kMaxOperations) {
    return meta::RequestEntityTooLarge(
        fmt::format("The allowed maximum operations in a JSON patch is {}, got {}", kMaxOperations, operations.size()));
  }
  Patcher patcher(document);
  for (const json::value& operation : operations) {
    const bool applies = patcher.Run(operation.get_object());
    if (patcher.Exhausted()) return meta::RequestEntityTooLarge(kTooMuchWork);
    if (!applies) return DoesNotApply();
  }
  return {};
}

std::optional<JsonPatchFailure> ApplyJsonPatchOperations(json::value& document, const json::array& operations) {
  Patcher patcher(document);
  for (const json::value& operation : operations) {
    if (patcher.Run(operation.get_object())) continue;
    return patcher.Exhausted() ? JsonPatchFailure{std::string(kTooMuchWork), false} : patcher.Failure();
  }
  return std::nullopt;
}

}  // namespace apimesh::patch
