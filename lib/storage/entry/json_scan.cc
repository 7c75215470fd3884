#include "lib/storage/entry/json_scan.h"

#include <algorithm>

#include "lib/codec/json/json_cursor.h"

namespace apimesh::storage {
namespace {

class Scanner {
 public:
  Scanner(std::string_view text, const FieldPaths& paths) : cursor_(text), paths_(paths) {
    result_.fields.resize(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) everything_.push_back(i);
  }

  std::optional<ScannedObject> Run() {
    const auto on_field = [this](std::string_view key, std::size_t) { return TopField(key); };
    if (!cursor_.Object(on_field) && !done_) return std::nullopt;
    const std::size_t last = cursor_.Text().find_last_not_of(" \n\r\t");
    if (!has_metadata_ || cursor_.Text()[last] != '}') return std::nullopt;
    std::sort(result_.labels.begin(), result_.labels.end());
    return std::move(result_);
  }

 private:
  using Active = std::vector<std::size_t>;  // indices of the paths that may still match below this value

  bool TopField(std::string_view key) {
    if (key == "apiVersion") {
      if (!cursor_.String(result_.api_version)) return false;
    } else if (key == "metadata" && cursor_.Peek() == '{') {
      result_.metadata_begin = cursor_.Position();
      if (!Metadata()) return false;
      result_.metadata_end = cursor_.Position();
      has_metadata_ = true;
    } else if (!Field(key, everything_, 0)) {
      return false;
    }
    // Nothing of interest can follow, so the rest is not scanned.
    if (has_metadata_ && paths_.empty() && !result_.api_version.empty()) {
      done_ = true;
      return false;
    }
    return true;
  }

  bool Metadata() {
    cursor_.SkipSpace();
    std::size_t end_of_value = cursor_.Position() + 1;
    bool empty = true, placed = false, sorted = false;
    const Active active = Narrow(everything_, 0, "metadata");
    const bool ok = cursor_.Object([&](std::string_view key, std::size_t key_begin) {
      // Go's encoder writes resourceVersion after these keys; inserting it there keeps the usual order. Custom
      // resources have sorted keys: theirs begin with annotations or creationTimestamp.
      bool leading = key == "name" || key == "generateName" || key == "namespace" || key == "selfLink" || key == "uid";
      if (empty) sorted = !leading;
      if (sorted) leading = key < "resourceVersion";
      empty = false;
      if (key == "resourceVersion") {
        cursor_.SkipSpace();
        const std::size_t begin = cursor_.Position();
        if (!cursor_.SkipValue()) return false;
        Place(begin, cursor_.Position(), "", "");
        return placed = true;
      }
      if (!leading && !placed) {
        Place(key_begin, key_begin, "\"resourceVersion\":", ",");
        placed = true;
      }
      const bool value_ok = key == "labels" && cursor_.Peek() == '{' ? Labels() : Field(key, active, 1);
      end_of_value = cursor_.Position();
      return value_ok;
    });
    if (ok && !placed) Place(end_of_value, end_of_value, empty ? "\"resourceVersion\":" : ",\"resourceVersion\":", "");
    return ok;
  }

  void Place(std::size_t begin, std::size_t end, std::string_view before, std::string_view after) {
    result_.version_begin = begin;
    result_.version_end = end;
    result_.before = before;
    result_.after = after;
  }

  bool Labels() {
    return cursor_.Object([this](std::string_view key, std::size_t) {
      std::string_view value;
      if (cursor_.Peek() != '"') return cursor_.SkipValue();
      if (!cursor_.String(value)) return false;
      result_.labels.emplace_back(codec::UnescapeJson(key), codec::UnescapeJson(value));
      return true;
    });
  }

  Active Narrow(const Active& active, std::size_t depth, std::string_view key) const {
    Active candidates;
    for (const std::size_t i : active) {
      if (paths_[i].size() > depth && paths_[i][depth] == key) candidates.push_back(i);
    }
    return candidates;
  }

  /// Handles the value of `key` at this depth: reads it if a path ends here, enters it if a path continues below, and
  /// skips it otherwise.
  bool Field(std::string_view key, const Active& active, std::size_t depth) {
    const Active candidates = Narrow(active, depth, key);
    if (candidates.empty()) return cursor_.SkipValue();
    if (cursor_.Peek() == '{') {
      return cursor_.Object([&](std::string_view inner, std::size_t) { return Field(inner, candidates, depth + 1); });
    }
    const std::size_t begin = cursor_.Position();
    std::string_view raw;
    std::string value;
    if (cursor_.Peek() == '"') {
      if (!cursor_.String(raw)) return false;
      value = codec::UnescapeJson(raw);
    } else {
      if (!cursor_.SkipValue()) return false;
      value = cursor_.Since(begin);
      if (value == "null" || value.front() == '[') value.clear();
    }
    for (const std::size_t i : candidates) {
      if (paths_[i].size() == depth + 1) result_.fields[i] = value;
    }
    return true;
  }

  codec::JsonCursor cursor_;
  const FieldPaths& paths_;
  Active everything_;
  bool has_metadata_ = false;
  bool done_ = false;
  ScannedObject result_;
};

}  // namespace

FieldPaths SplitPaths(const std::vector<std::string>& paths) {
  FieldPaths result;
  for (const std::string& path : paths) {
    auto& steps = result.emplace_back();
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      steps.push_back(path.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return result;
}

std::optional<ScannedObject> ScanObject(std::string_view text, const FieldPaths& paths) {
  if (text.empty()) return std::nullopt;
  return Scanner(text, paths).Run();
}

}  // namespace apimesh::storage
