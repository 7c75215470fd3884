#include "lib/codec/yaml/yaml_events.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh::codec {
namespace {

using Token = TokenType;
using Type = YamlEvent::Type;

// Limits the cost, because each directive is compared with all earlier ones.
constexpr std::size_t kMaxTagDirectives = 100;

/// Returns the tag with this `prefix` and `suffix`. Long tags are not concatenated, because a document can use a tag of
/// 1 MB many times.
YamlTag TagOf(std::string_view prefix, std::string_view suffix) {
  constexpr std::string_view kStandard = "tag:yaml.org,2002:";
  constexpr std::size_t kLongest = 32;
  if (prefix.size() + suffix.size() > kLongest) return YamlTag::kOther;
  const std::string tag = std::string(prefix) + std::string(suffix);
  if (tag == "!") return YamlTag::kLocal;
  if (!tag.starts_with(kStandard)) return YamlTag::kOther;
  const std::string_view name = std::string_view(tag).substr(kStandard.size());
  constexpr std::pair<std::string_view, YamlTag> kTags[] = {
      {"str", YamlTag::kString},          {"binary", YamlTag::kBinary}, {"int", YamlTag::kInteger},
      {"float", YamlTag::kFloat},         {"bool", YamlTag::kBool},     {"null", YamlTag::kNull},
      {"timestamp", YamlTag::kTimestamp}, {"merge", YamlTag::kMerge},
  };
  for (const auto& [known, value] : kTags) {
    if (name == known) return value;
  }
  return YamlTag::kOther;
}

}  // namespace

bool YamlEvents::Fail(std::string_view problem, std::uint32_t line) {
  // yaml.v2 counts the lines of these errors from 0, unlike those of the scanner.
  problem_ = line == 0 ? fmt::format("yaml: {}", problem) : fmt::format("yaml: line {}: {}", line, problem);
  return false;
}

bool YamlEvents::Load() {
  token_ = scanner_.Peek();
  if (!token_) problem_ = scanner_.Problem();
  return token_ != nullptr;
}

bool YamlEvents::Next(YamlEvent& event) {
  event = {};
  if (!Load()) return false;
  switch (state_) {
    case State::kStart: return DocumentStart(event);
    case State::kContent: return DocumentContent(event);
    case State::kDocumentEnd: return true;
    case State::kBlockSequence: return BlockSequence(event);
    case State::kIndentlessSequence: return IndentlessSequence(event);
    case State::kBlockMappingKey: return BlockMappingKey(event);
    case State::kBlockMappingValue: return BlockMappingValue(event);
    case State::kFlowSequenceFirst: return FlowSequence(event, true);
    case State::kFlowSequence: return FlowSequence(event, false);
    case State::kPairKey: return PairKey(event);
    case State::kPairValue: return PairValue(event);
    case State::kPairEnd: state_ = State::kFlowSequence; return Close(event, token_->line);
    case State::kFlowMappingFirst: return FlowMapping(event, true);
    case State::kFlowMapping: return FlowMapping(event, false);
    case State::kFlowMappingValue: return FlowMappingValue(event);
    case State::kFlowMappingNoValue: return Empty(event, State::kFlowMapping, token_->line);
  }
  return false;
}

bool YamlEvents::DocumentStart(YamlEvent& event) {
  if (Is(Token::kStreamEnd)) {
    state_ = State::kDocumentEnd;
    return true;
  }
  const bool is_explicit = Is(Token::kVersionDirective) || Is(Token::kTagDirective) || Is(Token::kDocumentStart);
  if (!Directives()) return false;
  if (!is_explicit) return Node(event, State::kDocumentEnd, true, false);
  if (!Is(Token::kDocumentStart)) return Fail("did not find expected <document start>", token_->line);
  Skip();
  return Load() && DocumentContent(event);
}

bool YamlEvents::Directives() {
  bool has_version = false;
  for (; Is(Token::kVersionDirective) || Is(Token::kTagDirective);) {
    if (Is(Token::kVersionDirective)) {
      if (has_version) return Fail("found duplicate %YAML directive", token_->line);
      if (!token_->plain) return Fail("found incompatible YAML document", token_->line);
      has_version = true;
    } else if (!AddTagDirective(token_->value, token_->suffix, false, token_->line)) {
      return false;
    }
    Skip();
    if (!Load()) return false;
  }
  return AddTagDirective("!", "!", true, 0) && AddTagDirective("!!", "tag:yaml.org,2002:", true, 0);
}

bool YamlEvents::AddTagDirective(std::string_view handle, std::string_view prefix, bool may_exist, std::uint32_t line) {
  for (const auto& directive : tag_directives_) {
    if (directive.first == handle) return may_exist || Fail("found duplicate %TAG directive", line);
  }
  if (tag_directives_.size() >= kMaxTagDirectives) return Fail("found too many %TAG directives", line);
  tag_directives_.emplace_back(handle, prefix);
  return true;
}

bool YamlEvents::DocumentContent(YamlEvent& event) {
  if (token_->type <= Token::kDocumentEnd) return Empty(event, State::kDocumentEnd, token_->line);
  return Node(event, State::kDocumentEnd, true, false);
}

bool YamlEvents::Empty(YamlEvent& event, State next, std::uint32_t line) {
  state_ = next;
  event = {.type = Type::kScalar, .implicit = true, .line = line};
  return true;
}

bool YamlEvents::Open(YamlEvent& event, Type type, State state, bool skip) {
  if (depth_ >= max_depth_) {
    problem_ = "yaml: exceeded max depth";
    return false;
  }
  ++depth_;
  event.type = type;
  state_ = state;
  if (skip) Skip();
  return true;
}

bool YamlEvents::Close(YamlEvent& event, std::uint32_t line) {
  --depth_;
  event.type = Type::kEnd;
  event.line = line;
  return true;
}

/// Ends a collection and continues with the state of the one that contains it.
bool YamlEvents::Leave(YamlEvent& event, std::uint32_t line) {
  state_ = states_.back();
  states_.pop_back();
  return Close(event, line);
}

/// Reads a node and continues with the state `next`.
bool YamlEvents::Node(YamlEvent& event, State next, bool block, bool indentless) {
  if (Is(Token::kAlias)) {
    event = {.type = Type::kAlias, .line = token_->line, .value = token_->value};
    state_ = next;
    Skip();
    return true;
  }
  event.line = token_->line;
  if ((Is(Token::kAnchor) || Is(Token::kTag)) && !NodeProperties(event)) return false;
  if (Is(Token::kScalar)) {
    event.type = Type::kScalar;
    event.implicit = (event.tag == YamlTag::kNone && token_->plain) || event.tag == YamlTag::kLocal;
    event.value = token_->value;
    state_ = next;
    Skip();
    return true;
  }
  states_.push_back(next);
  if (indentless && Is(Token::kBlockEntry)) return Open(event, Type::kSequenceStart, State::kIndentlessSequence, false);
  if (Is(Token::kFlowSequenceStart)) return Open(event, Type::kSequenceStart, State::kFlowSequenceFirst, true);
  if (Is(Token::kFlowMappingStart)) return Open(event, Type::kMappingStart, State::kFlowMappingFirst, true);
  if (block && Is(Token::kBlockSequenceStart)) return Open(event, Type::kSequenceStart, State::kBlockSequence, true);
  if (block && Is(Token::kBlockMappingStart)) return Open(event, Type::kMappingStart, State::kBlockMappingKey, true);
  states_.pop_back();
  if (event.anchor.empty() && event.tag == YamlTag::kNone)
    return Fail("did not find expected node content", token_->line);
  event.type = Type::kScalar;
  event.implicit = event.tag == YamlTag::kNone;
  state_ = next;
  return true;
}

/// Reads an anchor and a tag, in either order.
bool YamlEvents::NodeProperties(YamlEvent& event) {
  const bool anchor_first = Is(Token::kAnchor);
  bool has_tag = false;
  std::string_view handle, suffix;
  std::uint32_t tag_line = 0;
  for (const Token type : {anchor_first ? Token::kAnchor : Token::kTag, anchor_first ? Token::kTag : Token::kAnchor}) {
    if (!Is(type)) break;
    if (type == Token::kAnchor) {
      event.anchor = token_->value;
    } else {
      has_tag = true;
      handle = token_->value;
      suffix = token_->suffix;
      tag_line = token_->line;
    }
    Skip();
    if (!Load()) return false;
  }
  return !has_tag || ResolveTag(event, handle, suffix, tag_line);
}

bool YamlEvents::ResolveTag(YamlEvent& event, std::string_view handle, std::string_view suffix, std::uint32_t line) {
  std::string_view prefix;
  if (!handle.empty()) {
    const auto found = std::find_if(tag_directives_.begin(), tag_directives_.end(),
                                    [handle](const auto& one) { return one.first == handle; });
    if (found == tag_directives_.end()) return Fail("found undefined tag handle", line);
    prefix = found->second;
  }
  event.tag = TagOf(prefix, suffix);
  return true;
}

bool YamlEvents::BlockSequence(YamlEvent& event) {
  const std::uint32_t line = token_->line;
  if (Is(Token::kBlockEntry)) {
    Skip();
    if (!Load()) return false;
    if (Is(Token::kBlockEntry) || Is(Token::kBlockEnd)) return Empty(event, State::kBlockSequence, line);
    return Node(event, State::kBlockSequence, true, false);
  }
  if (!Is(Token::kBlockEnd)) return Fail("did not find expected '-' indicator", line);
  Skip();
  return Leave(event, line);
}

bool YamlEvents::IndentlessSequence(YamlEvent& event) {
  const std::uint32_t line = token_->line;
  if (!Is(Token::kBlockEntry)) {
    return Leave(event, line);
  }
  Skip();
  if (!Load()) return false;
  if (Is(Token::kBlockEntry) || Is(Token::kKey) || Is(Token::kValue) || Is(Token::kBlockEnd)) {
    return Empty(event, State::kIndentlessSequence, line);
  }
  return Node(event, State::kIndentlessSequence, true, false);
}

bool YamlEvents::BlockMappingKey(YamlEvent& event) {
  const std::uint32_t line = token_->line;
  if (Is(Token::kKey)) {
    Skip();
    if (!Load()) return false;
    if (Is(Token::kKey) || Is(Token::kValue) || Is(Token::kBlockEnd))
      return Empty(event, State::kBlockMappingValue, line);
    return Node(event, State::kBlockMappingValue, true, true);
  }
  if (!Is(Token::kBlockEnd)) return Fail("did not find expected key", line);
  Skip();
  return Leave(event, line);
}

bool YamlEvents::BlockMappingValue(YamlEvent& event) {
  const std::uint32_t line = token_->line;
  if (!Is(Token::kValue)) return Empty(event, State::kBlockMappingKey, line);
  Skip();
  if (!Load()) return false;
  if (Is(Token::kKey) || Is(Token::kValue) || Is(Token::kBlockEnd)) return Empty(event, State::kBlockMappingKey, line);
  return Node(event, State::kBlockMappingKey, true, true);
}

bool YamlEvents::FlowSequence(YamlEvent& event, bool first) {
  if (!Is(Token::kFlowSequenceEnd) && !first) {
    if (!Is(Token::kFlowEntry)) return Fail("did not find expected ',' or ']'", token_->line);
    Skip();
    if (!Load()) return false;
  }
  if (Is(Token::kKey)) {
    event.line = token_->line;
    return Open(event, Type::kMappingStart, State::kPairKey, true);
  }
  if (!Is(Token::kFlowSequenceEnd)) return Node(event, State::kFlowSequence, false, false);
  const std::uint32_t line = token_->line;
  Skip();
  return Leave(event, line);
}

bool YamlEvents::PairKey(YamlEvent& event) {
  if (!Is(Token::kValue) && !Is(Token::kFlowEntry) && !Is(Token::kFlowSequenceEnd))
    return Node(event, State::kPairValue, false, false);
  // yaml.v2 consumes this token, so "[?,a]" is an error.
  const std::uint32_t line = token_->line;
  Skip();
  return Empty(event, State::kPairValue, line);
}

bool YamlEvents::PairValue(YamlEvent& event) {
  if (Is(Token::kValue)) {
    Skip();
    if (!Load()) return false;
    if (!Is(Token::kFlowEntry) && !Is(Token::kFlowSequenceEnd)) return Node(event, State::kPairEnd, false, false);
  }
  return Empty(event, State::kPairEnd, token_->line);
}

bool YamlEvents::FlowMapping(YamlEvent& event, bool first) {
  if (!Is(Token::kFlowMappingEnd) && !first) {
    if (!Is(Token::kFlowEntry)) return Fail("did not find expected ',' or '}'", token_->line);
    Skip();
    if (!Load()) return false;
  }
  if (Is(Token::kKey)) {
    Skip();
    if (!Load()) return false;
    if (Is(Token::kValue) || Is(Token::kFlowEntry) || Is(Token::kFlowMappingEnd))
      return Empty(event, State::kFlowMappingValue, token_->line);
    return Node(event, State::kFlowMappingValue, false, false);
  }
  if (!Is(Token::kFlowMappingEnd)) return Node(event, State::kFlowMappingNoValue, false, false);
  const std::uint32_t line = token_->line;
  Skip();
  return Leave(event, line);
}

bool YamlEvents::FlowMappingValue(YamlEvent& event) {
  if (Is(Token::kValue)) {
    Skip();
    if (!Load()) return false;
    if (!Is(Token::kFlowEntry) && !Is(Token::kFlowMappingEnd)) return Node(event, State::kFlowMapping, false, false);
  }
  return Empty(event, State::kFlowMapping, token_->line);
}

}  // namespace apimesh::codec
