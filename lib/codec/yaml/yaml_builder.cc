#include "lib/codec/yaml/yaml_builder.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/base/text/base64.h"
#include "lib/base/text/utf8.h"
#include "lib/codec/yaml/yaml_go_syntax.h"

namespace apimesh::codec {
namespace {

using Type = YamlEvent::Type;
using Kind = YamlScalar::Kind;

constexpr std::size_t kMaxDuplicates = 1000;
constexpr std::size_t kMaxDuplicatesBytes = 1 << 20;
constexpr std::size_t kKeyNodes = 2;    // a key counts as so many more nodes, because it is hashed and sorted
constexpr std::size_t kNodeBytes = 48;  // the size of a value as a member of an object, without its text

bool IsStart(const YamlEvent& event) { return event.type == Type::kSequenceStart || event.type == Type::kMappingStart; }

bool IsMergeKey(const YamlEvent& event) {
  return event.type == Type::kScalar && event.value == "<<" && (event.implicit || event.tag == YamlTag::kMerge);
}

/// Returns the fraction of a document that may come from aliases: 0.99 for small documents, 0.10 for large ones.
double AllowedAliasRatio(std::size_t decoded) {
  constexpr double kLow = 400'000, kHigh = 4'000'000;
  const double nodes = static_cast<double>(decoded);
  if (nodes <= kLow) return 0.99;
  return nodes >= kHigh ? 0.10 : 0.99 - 0.89 * (nodes - kLow) / (kHigh - kLow);
}

}  // namespace

YamlBuilder::YamlBuilder(meta::json::storage_ptr arena, Options options, const ParseLimits& limits)
    : limits_(limits), options_(options) {
  stack_.reset(std::move(arena));
}

void YamlBuilder::SetTooManyNodes() {
  problem_ = meta::RequestEntityTooLarge(fmt::format("limit is {} YAML nodes", limits_.yaml_nodes));
}

bool YamlBuilder::Add(const YamlEvent& parsed) {
  YamlEvent event = parsed;
  if (event.type == Type::kEnd) {
    --depth_;
  } else if (++nodes_ > limits_.yaml_nodes) {
    SetTooManyNodes();
    return false;
  }
  if (Interrupted()) {
    problem_ = meta::Timeout("request did not complete within the allotted timeout", 0);
    return false;
  }
  if (!Resolve(event)) return false;
  if (IsStart(event)) ++depth_;
  if (held_depth_ == 0 && failure_.empty() &&
      ((event.type == Type::kSequenceStart && ExpectsMerge()) || (IsStart(event) && ExpectsKey()))) {
    held_depth_ = depth_;
    if (recordings_.empty()) recorded_.push_back(event);
    held_begin_ = recorded_.size() - 1;
    return true;
  }
  if (held_depth_ > 0) {
    if (event.type == Type::kEnd && depth_ + 1 == held_depth_) {
      held_depth_ = 0;
      ExpectsKey() ? InvalidKey(held_begin_) : MergeSequence(held_begin_, recorded_.size());
    }
    return !problem_;
  }
  if (failure_.empty()) Build(event);
  return !problem_;
}

/// Resolves the target of an alias, registers an anchor, and records events that an alias may replay.
bool YamlBuilder::Resolve(YamlEvent& event) {
  if (event.type == Type::kAlias) {
    const auto found = names_.find(event.value);
    if (found == names_.end()) {
      problem_ = meta::BadRequest(fmt::format("yaml: unknown anchor '{}' referenced", event.value));
      return false;
    }
    event.target = found->second;
  }
  const bool anchored = !event.anchor.empty();
  if (anchored) {
    names_.insert_or_assign(event.anchor, static_cast<std::uint32_t>(anchors_.size()));
    if (IsStart(event)) recordings_.push_back({depth_, static_cast<std::uint32_t>(anchors_.size())});
    anchors_.push_back({event.anchor, recorded_.size(), 0});
  }
  if (!anchored && recordings_.empty() && held_depth_ == 0) return true;
  if (!CountCopy(kNodeBytes)) return false;
  recorded_.push_back(event);
  if (anchored && !IsStart(event)) anchors_.back().end = recorded_.size();
  if (event.type == Type::kEnd && !recordings_.empty() && recordings_.back().depth == depth_) {
    anchors_[recordings_.back().anchor].end = recorded_.size();
    recordings_.pop_back();
  }
  return true;
}

/// Limits the memory for copies: a document of 3 MB can refer to large parts of itself many times.
bool YamlBuilder::CountCopy(std::size_t bytes) {
  copied_ += bytes;
  if (copied_ <= limits_.yaml_alias_bytes) return true;
  problem_ = meta::BadRequest("yaml: document contains excessive aliasing");
  return false;
}

void YamlBuilder::CountDecoded() {
  ++decoded_;
  if (alias_depth_ > 0) ++decoded_from_aliases_;
  if (decoded_from_aliases_ > 100 && decoded_ > 1000 &&
      static_cast<double>(decoded_from_aliases_) / static_cast<double>(decoded_) > AllowedAliasRatio(decoded_)) {
    Fail("yaml: document contains excessive aliasing");
  }
}

void YamlBuilder::Fail(std::string text) {
  if (failure_.empty()) failure_ = std::move(text);
}

std::size_t YamlBuilder::EndOf(std::size_t begin) const {
  std::size_t depth = 0, at = begin;
  do {
    if (IsStart(recorded_[at])) ++depth;
    if (recorded_[at].type == Type::kEnd) --depth;
    ++at;
  } while (depth > 0);
  return at;
}

void YamlBuilder::Replay(std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end && failure_.empty() && !problem_; ++at) {
    const YamlEvent& event = recorded_[at];
    if (!CountCopy(event.type == Type::kEnd ? 0 : kNodeBytes + event.value.size())) return;
    if (event.type == Type::kSequenceStart && ExpectsMerge()) {
      const std::size_t after = EndOf(at);
      MergeSequence(at, after);
      at = after - 1;
    } else {
      Build(event);
    }
  }
}

/// Merges the sequence [begin, end). Earlier mappings have precedence over later ones, so the later ones are added
/// first.
void YamlBuilder::MergeSequence(std::size_t begin, std::size_t end) {
  std::vector<std::size_t> items;
  for (std::size_t at = begin + 1; at + 1 < end; at = EndOf(at)) items.push_back(at);
  for (auto item = items.rbegin(); item != items.rend() && failure_.empty() && !problem_; ++item) {
    const YamlEvent& event = recorded_[*item];
    if (event.type != Type::kMappingStart && event.type != Type::kAlias)
      return Fail("yaml: map merge requires map or sequence of maps as the value");
    frames_.back().expects = Expects::kMerge;
    Replay(*item, EndOf(*item));
  }
  if (failure_.empty()) frames_.back().expects = Expects::kKey;
}

void YamlBuilder::Build(const YamlEvent& event) {
  switch (event.type) {
    case Type::kAlias: return Alias(event);
    case Type::kScalar: return Scalar(event);
    case Type::kSequenceStart:
    case Type::kMappingStart: return Open(event);
    case Type::kEnd: return Close();
    case Type::kDocumentEnd: return;
  }
}

void YamlBuilder::Alias(const YamlEvent& event) {
  const Anchor anchor = anchors_[event.target];
  if (ExpectsMerge() && recorded_[anchor.begin].type != Type::kMappingStart) {
    return Fail("yaml: map merge requires map or sequence of maps as the value");
  }
  CountDecoded();
  if (anchor.end == 0) return Fail(fmt::format("yaml: anchor '{}' value contains itself", anchor.name));
  ++alias_depth_;
  Replay(anchor.begin, anchor.end);
  --alias_depth_;
}

void YamlBuilder::Scalar(const YamlEvent& event) {
  const bool is_key = !frames_.empty() && frames_.back().expects == Expects::kKey;
  if (is_key && IsMergeKey(event)) {
    frames_.back().expects = Expects::kMerge;
    return;
  }
  if (ExpectsMerge()) return Fail("yaml: map merge requires map or sequence of maps as the value");
  CountDecoded();
  YamlScalar scalar;
  if (!Meaning(event, scalar)) return;
  if (is_key) {
    Key(event, scalar);
  } else {
    if (!frames_.empty()) frames_.back().value_line = event.line;
    Value(event, scalar);
    EndOfValue();
  }
}

bool YamlBuilder::Meaning(const YamlEvent& event, YamlScalar& scalar) {
  if (options_.all_strings) return true;
  if (event.tag == YamlTag::kNone) {
    if (event.implicit) scalar = ResolveYamlScalar(event.value);
    return true;
  }
  if (event.tag == YamlTag::kBinary) {
    binary_.clear();
    if (DecodeBase64(event.value, binary_)) {
      Fail("yaml: !!binary value contains invalid base64 data");
      return false;
    }
    binary_ = RepairUtf8(binary_);
    return true;
  }
  std::string problem = ResolveTaggedScalar(event.tag, event.value, scalar);
  if (problem.empty()) return true;
  Fail(std::move(problem));
  return false;
}

void YamlBuilder::Key(const YamlEvent& event, const YamlScalar& scalar) {
  std::string text;
  const fmt::format_int digits(scalar.integer);
  std::string_view key;
  switch (scalar.kind) {
    case Kind::kString: key = event.tag == YamlTag::kBinary ? std::string_view(binary_) : event.value; break;
    case Kind::kBool: key = scalar.boolean ? "true" : "false"; break;
    case Kind::kInteger: key = {digits.data(), digits.size()}; break;
    case Kind::kFloat: key = text = YamlFloatKey(scalar.real); break;
    case Kind::kNull:
    case Kind::kUnsigned:
      if (conversion_.empty()) conversion_ = "yaml: unsupported map key";
      break;
  }
  nodes_ += kKeyNodes;
  if (nodes_ > limits_.yaml_nodes) return SetTooManyNodes();
  stack_.push_key({key.data(), key.size()});
  Frame& frame = frames_.back();
  frame.expects = Expects::kValue;
  if (!options_.find_duplicates || event.tag == YamlTag::kBinary) return;
  const std::string_view identity =
      scalar.IsString() ? event.value : typed_keys_.emplace_back(fmt::format("\x01{}", key));
  frame.duplicate = !frames_[frame.owner].keys.Add(keys_, identity);
  if (frame.duplicate) frame.duplicate_key = scalar.IsString() ? meta::Quoted(key) : std::string(key);
}

void YamlBuilder::Value(const YamlEvent& event, const YamlScalar& scalar) {
  switch (scalar.kind) {
    case Kind::kNull: stack_.push_null(); break;
    case Kind::kBool: stack_.push_bool(scalar.boolean); break;
    case Kind::kInteger: stack_.push_int64(scalar.integer); break;
    case Kind::kUnsigned: stack_.push_double(static_cast<double>(scalar.number)); break;
    case Kind::kString: {
      const std::string_view text = event.tag == YamlTag::kBinary ? std::string_view(binary_) : event.value;
      stack_.push_string({text.data(), text.size()});
      break;
    }
    case Kind::kFloat: {
      constexpr double kIntegers = 9.2e18;
      if (!std::isfinite(scalar.real)) {
        if (conversion_.empty())
          conversion_ = fmt::format("json: unsupported value: {}", std::isnan(scalar.real) ? "NaN"
                                                                   : scalar.real < 0       ? "-Inf"
                                                                                           : "+Inf");
        stack_.push_null();
      } else if (std::trunc(scalar.real) == scalar.real && std::abs(scalar.real) < kIntegers) {
        stack_.push_int64(static_cast<std::int64_t>(scalar.real));  // 1.0 is written as 1 in JSON
      } else {
        stack_.push_double(scalar.real);
      }
      break;
    }
  }
}

void YamlBuilder::Open(const YamlEvent& event) {
  if (frames_.size() >= limits_.depth) {
    problem_ = meta::BadRequest("yaml: exceeded max depth");
    return;
  }
  CountDecoded();
  const bool is_map = event.type == Type::kMappingStart;
  Frame frame{
      .expects = is_map ? Expects::kKey : Expects::kItem, .owner = frames_.size(), .keys = KeySet(keys_.size())};
  if (!frames_.empty()) {
    Frame& parent = frames_.back();
    // The event is always a recorded one, because Add() holds back others.
    if (parent.expects == Expects::kKey) return InvalidKey(static_cast<std::size_t>(&event - recorded_.data()));
    parent.value_line = event.line;
    if (parent.expects == Expects::kMerge) {
      frame.merged = true;
      frame.owner = parent.owner;
    }
  }
  frames_.push_back(std::move(frame));
}

void YamlBuilder::InvalidKey(std::size_t begin) {
  Fail(fmt::format("yaml: invalid map key: {}", YamlGoSyntax(recorded_, begin)));
}

void YamlBuilder::Close() {
  Frame frame = std::move(frames_.back());
  frames_.pop_back();
  if (frame.merged) {
    frames_.back().count += frame.count;
    frames_.back().expects = Expects::kKey;
    return;
  }
  frame.expects == Expects::kItem ? stack_.push_array(frame.count) : stack_.push_object(frame.count);
  keys_.resize(frame.keys.First());
  EndOfValue();
}

void YamlBuilder::EndOfValue() {
  if (frames_.empty()) {
    has_root_ = true;
    return;
  }
  Frame& frame = frames_.back();
  ++frame.count;
  if (frame.expects == Expects::kItem) return;
  frame.expects = Expects::kKey;
  if (!frame.duplicate) return;
  frame.duplicate = false;
  duplicates_.push_back(fmt::format("  line {}: key {} already set in map", frame.value_line + 1, frame.duplicate_key));
  duplicates_bytes_ += duplicates_.back().size();
  if (duplicates_.size() >= kMaxDuplicates || duplicates_bytes_ > kMaxDuplicatesBytes) options_.find_duplicates = false;
}

meta::Result<meta::json::value> YamlBuilder::Finish() {
  if (!failure_.empty()) return meta::BadRequest(failure_);
  if (!conversion_.empty()) return meta::BadRequest(conversion_);
  if (!has_root_) stack_.push_null();
  return stack_.release();
}

std::string YamlBuilder::Duplicates() const {
  return duplicates_.empty() ? "" : fmt::format("yaml: unmarshal errors:\n{}", fmt::join(duplicates_, "\n"));
}

}  // namespace apimesh::codec
