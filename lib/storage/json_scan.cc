#include "lib/storage/json_scan.h"

#include <algorithm>

#include "lib/codec/json_parts.h"

namespace apimesh::storage {
namespace {

void AppendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

std::uint32_t Hex4(std::string_view raw, std::size_t at) {
  std::uint32_t code = 0;
  for (std::size_t i = at; i < at + 4 && i < raw.size(); ++i) {
    const char c = raw[i];
    code = code * 16 + (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  }
  return code;
}

std::string Unescape(std::string_view raw) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\' || i + 1 >= raw.size()) {
      out += raw[i];
      continue;
    }
    switch (const char c = raw[++i]) {
      case 'n': out += '\n'; break;
      case 't': out += '\t'; break;
      case 'r': out += '\r'; break;
      case 'b': out += '\b'; break;
      case 'f': out += '\f'; break;
      case 'u': {
        std::uint32_t code = Hex4(raw, i + 1);
        i += 4;
        if (code >= 0xd800 && code < 0xdc00 && raw.substr(i + 1, 2) == "\\u") {
          code = 0x10000 + ((code - 0xd800) << 10) + (Hex4(raw, i + 3) - 0xdc00);
          i += 6;
        }
        AppendUtf8(out, code);
        break;
      }
      default: out += c;
    }
  }
  return out;
}

class Scanner {
 public:
  Scanner(std::string_view text, const FieldPaths& paths) : text_(text), paths_(paths) {
    result_.fields.resize(paths.size());
    for (std::size_t i = 0; i < paths.size(); ++i) everything_.push_back(i);
  }

  std::optional<ScannedObject> Run() {
    if (!Object([this](std::string_view key) { return TopField(key); }) && !done_) return std::nullopt;
    const std::size_t last = text_.find_last_not_of(" \n\r\t");
    if (!has_metadata_ || text_[last] != '}') return std::nullopt;
    std::sort(result_.labels.begin(), result_.labels.end());
    return std::move(result_);
  }

 private:
  using Active = std::vector<std::size_t>;  // indices of paths that may yet match below here

  bool TopField(std::string_view key) {
    if (key == "apiVersion") {
      if (!String(result_.api_version)) return false;
    } else if (key == "metadata" && Peek() == '{') {
      result_.metadata_begin = position_;
      if (!Metadata()) return false;
      result_.metadata_end = position_;
      has_metadata_ = true;
    } else if (!Field(key, everything_, 0)) {
      return false;
    }
    // Nothing of interest can follow: spare the rest.
    if (has_metadata_ && paths_.empty() && !result_.api_version.empty()) {
      done_ = true;
      return false;
    }
    return true;
  }

  bool Metadata() {
    SkipSpace();
    std::size_t end_of_value = position_ + 1;
    bool empty = true, placed = false, sorted = false;
    const Active active = Narrow(everything_, 0, "metadata");
    const bool ok = Object([&](std::string_view key) {
      // Go's encoder has resourceVersion after these; a reader of raw bytes sees the usual order.
      // Custom resources have sorted keys: theirs begin with annotations or creationTimestamp.
      bool leading = key == "name" || key == "generateName" || key == "namespace" || key == "selfLink" || key == "uid";
      if (empty) sorted = !leading;
      if (sorted) leading = key < "resourceVersion";
      empty = false;
      if (key == "resourceVersion") {
        SkipSpace();
        const std::size_t begin = position_;
        if (!SkipValue()) return false;
        Place(begin, position_, "", "");
        return placed = true;
      }
      if (!leading && !placed) {
        Place(key_begin_, key_begin_, "\"resourceVersion\":", ",");
        placed = true;
      }
      const bool value_ok = key == "labels" && Peek() == '{' ? Labels() : Field(key, active, 1);
      end_of_value = position_;
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
    return Object([this](std::string_view key) {
      std::string_view value;
      if (Peek() != '"') return SkipValue();
      if (!String(value)) return false;
      result_.labels.emplace_back(Unescape(key), Unescape(value));
      return true;
    });
  }

  Active Narrow(const Active& active, std::size_t depth, std::string_view key) const {
    Active narrowed;
    for (const std::size_t i : active) {
      if (paths_[i].size() > depth && paths_[i][depth] == key) narrowed.push_back(i);
    }
    return narrowed;
  }

  /// The value of `key` at this depth: read if a path ends here, entered if one goes on, else skipped.
  bool Field(std::string_view key, const Active& active, std::size_t depth) {
    const Active narrowed = Narrow(active, depth, key);
    if (narrowed.empty()) return SkipValue();
    if (Peek() == '{') return Object([&](std::string_view inner) { return Field(inner, narrowed, depth + 1); });
    const std::size_t begin = position_;
    std::string_view raw;
    std::string value;
    if (Peek() == '"') {
      if (!String(raw)) return false;
      value = Unescape(raw);
    } else {
      if (!SkipValue()) return false;
      value = text_.substr(begin, position_ - begin);
      if (value == "null" || value.front() == '[') value.clear();
    }
    for (const std::size_t i : narrowed) {
      if (paths_[i].size() == depth + 1) result_.fields[i] = value;
    }
    return true;
  }

  template <class OnField>
  bool Object(OnField on_field) {
    if (Peek() != '{') return false;
    ++position_;
    if (Peek() == '}') return ++position_, true;
    for (;;) {
      SkipSpace();
      const std::size_t begin = position_;
      std::string_view key;
      if (!String(key) || Peek() != ':') return false;
      ++position_;
      SkipSpace();
      key_begin_ = begin;
      if (!on_field(key)) return false;
      const char next = Peek();
      ++position_;
      if (next == '}') return true;
      if (next != ',') return false;
    }
  }

  void SkipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n' || text_[position_] == '\t' ||
                                        text_[position_] == '\r')) {
      ++position_;
    }
  }
  char Peek() {
    SkipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  bool String(std::string_view& raw) {
    if (Peek() != '"') return false;
    const std::size_t begin = position_ + 1;
    if (!MoveTo(codec::SkipJsonString(text_, position_))) return false;
    raw = text_.substr(begin, position_ - 1 - begin);
    return true;
  }

  bool SkipValue() {
    SkipSpace();
    return MoveTo(codec::SkipJsonValue(text_, position_));
  }

  bool MoveTo(std::size_t position) {
    if (position == std::string_view::npos) return false;
    position_ = position;
    return true;
  }

  const std::string_view text_;
  const FieldPaths& paths_;
  Active everything_;
  std::size_t position_ = 0;
  std::size_t key_begin_ = 0;  // of the field being read
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
