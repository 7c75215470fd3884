#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <istream>
#include <map>
#include <streambuf>

#include "lib/codec/codec.h"
#include "lib/codec/yaml_limits.h"
#include "lib/codec/yaml_scalar.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

struct YamlProblem {
  std::string text;
};

/// Builds the document from the parser's events. Aliases are copies, so their memory is counted before they are made.
class YamlBuilder final : public YAML::EventHandler {
 public:
  YamlBuilder(json::storage_ptr arena, bool strict, const ParseLimits& limits)
      : arena_(std::move(arena)), strict_(strict), limits_(limits), root_(nullptr, arena_) {}

  json::value TakeRoot() { return std::move(root_); }
  const std::vector<std::string>& Duplicates() const { return duplicates_; }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { Add(mark, json::value(nullptr, arena_), anchor, kNodeBytes); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) throw YamlProblem{"yaml: anchor value contains itself"};
    CountCopy(it->second.bytes);
    Add(mark, json::value(it->second.value, arena_), 0, it->second.bytes);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string& text) override {
    const bool plain = tag == "?" || tag.empty();
    const bool merge = plain && text == "<<";
    const bool typed = tag == "tag:yaml.org,2002:int" || tag == "tag:yaml.org,2002:float" || tag == "tag:yaml.org,2002:bool" ||
                       tag == "tag:yaml.org,2002:null";
    const std::size_t bytes = kNodeBytes + text.size();
    json::value value = (plain || typed) && !merge ? ResolveYamlScalar(text, arena_) : json::value(json::string_view(text), arena_);
    Add(mark, std::move(value), anchor, bytes, merge);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(mark, json::array(arena_), anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    Open(mark, json::object(arena_), anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapEnd() override { Close(); }

 private:
  static constexpr std::size_t kMaxDuplicates = 1000;
  static constexpr std::size_t kNodeBytes = 48;  // what a value takes as a member of an object, without its text

  struct Frame {
    json::value value;
    YAML::Mark mark;
    YAML::anchor_t anchor;
    std::size_t bytes = kNodeBytes;
    bool has_key = false;
    bool merge_key = false;
    std::string key;
    std::vector<json::value> merges;
  };
  struct Anchor {
    json::value value;
    std::size_t bytes;
  };

  void Open(const YAML::Mark& mark, json::value value, YAML::anchor_t anchor) {
    if (frames_.size() >= limits_.depth) throw YamlProblem{"yaml: exceeded max depth"};
    frames_.push_back(Frame{std::move(value), mark, anchor});
  }

  void Close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    for (const json::value& merge : frame.merges) MergeInto(frame.value.get_object(), merge);
    Add(frame.mark, std::move(frame.value), frame.anchor, frame.bytes);
  }

  /// What the map itself says wins over what is merged into it.
  static void MergeInto(json::object& target, const json::value& source) {
    if (source.is_array()) {
      for (const json::value& one : source.get_array()) MergeInto(target, one);
    } else if (source.is_object()) {
      for (const auto& [key, value] : source.get_object()) target.emplace(key, value);
    } else {
      throw YamlProblem{"yaml: map merge requires map or sequence of maps as the value"};
    }
  }

  void Add(const YAML::Mark& mark, json::value value, YAML::anchor_t anchor, std::size_t bytes, bool merge = false) {
    if (anchor != 0) {
      CountCopy(bytes);
      anchors_.insert_or_assign(anchor, Anchor{value, bytes});
    }
    if (frames_.empty()) {
      root_ = std::move(value);
      return;
    }
    Frame& parent = frames_.back();
    parent.bytes += bytes;
    if (parent.value.is_array()) {
      parent.value.get_array().push_back(std::move(value));
    } else if (!parent.has_key) {
      parent.key = KeyText(value);
      parent.has_key = true;
      parent.merge_key = merge;
      if (strict_ && !merge && duplicates_.size() < kMaxDuplicates && parent.value.get_object().contains(parent.key)) {
        duplicates_.push_back(fmt::format("  line {}: key {} already set in map", mark.line + 1, meta::Quoted(parent.key)));
      }
    } else {
      parent.has_key = false;
      if (parent.merge_key) {
        parent.merges.push_back(std::move(value));
      } else {
        parent.value.get_object().insert_or_assign(parent.key, std::move(value));
      }
    }
  }

  /// A document of 3 MB can name large parts of it many times. Nested anchors copy as well: each keeps what is below it.
  void CountCopy(std::size_t bytes) {
    copied_ += bytes;
    if (copied_ > limits_.yaml_alias_bytes) throw YamlProblem{"yaml: document contains excessive aliasing"};
  }

  static std::string KeyText(const json::value& key) {
    if (key.is_string()) return std::string(key.get_string());
    if (key.is_object() || key.is_array() || key.is_null()) throw YamlProblem{"yaml: unsupported map key"};
    return WriteJson(key);
  }

  json::storage_ptr arena_;
  bool strict_;
  const ParseLimits& limits_;
  json::value root_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchor> anchors_;
  std::size_t copied_ = 0;
  std::vector<std::string> duplicates_;
};

/// Reads from a view without copying it.
class ViewBuffer final : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // std::streambuf only reads here
    setg(begin, begin, begin + text.size());
  }
};

}  // namespace

namespace {

meta::Result<> Build(YamlBuilder& builder, std::string_view text, const ParseLimits& limits) {
  if (const std::string problem = FlowProblem(text, limits.depth, limits.yaml_flow_tokens); !problem.empty()) return meta::BadRequest(problem);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
  } catch (const YamlProblem& problem) {
    return meta::BadRequest(problem.text);
  } catch (const YAML::Exception& problem) {
    // The two that people meet most, in the reference's words.
    if (problem.msg == YAML::ErrorMsg::MAP_VALUE) {
      const std::string line = problem.mark.line > 0 ? fmt::format("line {}: ", problem.mark.line + 1) : "";
      return meta::BadRequest(fmt::format("yaml: {}mapping values are not allowed in this context", line));
    }
    return meta::BadRequest(fmt::format("yaml: line {}: {}", problem.mark.line + 1, problem.msg));
  }
  return {};
}

std::string DuplicatesOf(const YamlBuilder& builder) {
  return builder.Duplicates().empty() ? "" : fmt::format("yaml: unmarshal errors:\n{}", fmt::join(builder.Duplicates(), "\n"));
}

}  // namespace

std::string YamlDuplicates(std::string_view text) {
  const ParseLimits limits;
  YamlBuilder builder(meta::NewArena(), true, limits);
  return Build(builder, text, limits) ? DuplicatesOf(builder) : "";
}

meta::Result<json::value> ParseYaml(std::string_view text, json::storage_ptr arena, Strictness* strict, const ParseLimits& limits) {
  if (text.size() > limits.bytes) return meta::RequestEntityTooLarge(fmt::format("limit is {}", limits.bytes));
  // Most YAML bodies of clients are JSON, which is read much faster as such.
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != std::string_view::npos && text[first] == '{') {
    if (auto value = ParseJson(text, arena, strict, limits)) return value;
  }
  YamlBuilder builder(arena, strict != nullptr, limits);
  if (text.starts_with('\t')) return meta::BadRequest("yaml: found character that cannot start any token");
  RETURN_IF_ERROR(Build(builder, text, limits));
  if (std::string duplicates = DuplicatesOf(builder); strict && !duplicates.empty()) strict->complaints.push_back(std::move(duplicates));
  return builder.TakeRoot();
}

}  // namespace apimesh::codec
