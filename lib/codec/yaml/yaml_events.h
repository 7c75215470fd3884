#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/codec/yaml/yaml_scanner.h"

namespace apimesh::codec {

/// Tags that determine the type of a scalar. kLocal is "!"; kOther is any unknown tag.
enum class YamlTag : std::uint8_t {
  kNone,
  kLocal,
  kString,
  kBinary,
  kInteger,
  kFloat,
  kBool,
  kNull,
  kTimestamp,
  kMerge,
  kOther
};

/// One node of a document, or the end of a collection. The views are valid as long as the YamlEvents that returned the
/// event.
struct YamlEvent {
  enum class Type : std::uint8_t { kDocumentEnd, kAlias, kScalar, kSequenceStart, kMappingStart, kEnd };

  Type type = Type::kDocumentEnd;
  YamlTag tag = YamlTag::kNone;
  bool implicit = false;     // scalars: the type is determined by the text alone
  std::uint32_t line = 0;    // the line of its first character, from 0
  std::uint32_t target = 0;  // aliases: set by the code that resolves them
  std::string_view value;    // scalars: the text; aliases: the name
  std::string_view anchor;   // the name of its anchor; empty if there is none
};

/// Parses the first document of a YAML text into events, with the grammar and the error messages of Go's yaml.v2.
class YamlEvents {
 public:
  YamlEvents(std::string_view text, std::size_t max_depth) : scanner_(text), max_depth_(max_depth) {}

  /// Returns false if the text is invalid; Problem() then returns the message. Must not be called after kDocumentEnd.
  bool Next(YamlEvent& event);
  const std::string& Problem() const { return problem_; }

 private:
  enum class State : std::uint8_t {
    kStart,
    kContent,
    kDocumentEnd,
    kBlockSequence,
    kIndentlessSequence,
    kBlockMappingKey,
    kBlockMappingValue,
    kFlowSequenceFirst,
    kFlowSequence,
    kPairKey,  // [key: value] is a sequence that contains a mapping
    kPairValue,
    kPairEnd,
    kFlowMappingFirst,
    kFlowMapping,
    kFlowMappingValue,
    kFlowMappingNoValue,
  };

  bool DocumentStart(YamlEvent& event);
  bool Directives();
  bool AddTagDirective(std::string_view handle, std::string_view prefix, bool may_exist, std::uint32_t line);
  bool DocumentContent(YamlEvent& event);
  bool BlockSequence(YamlEvent& event);
  bool IndentlessSequence(YamlEvent& event);
  bool BlockMappingKey(YamlEvent& event);
  bool BlockMappingValue(YamlEvent& event);
  bool FlowSequence(YamlEvent& event, bool first);
  bool PairKey(YamlEvent& event);
  bool PairValue(YamlEvent& event);
  bool FlowMapping(YamlEvent& event, bool first);
  bool FlowMappingValue(YamlEvent& event);

  bool Node(YamlEvent& event, State next, bool block, bool indentless);
  bool NodeProperties(YamlEvent& event);
  bool ResolveTag(YamlEvent& event, std::string_view handle, std::string_view suffix, std::uint32_t line);
  bool Open(YamlEvent& event, YamlEvent::Type type, State state, bool skip);
  bool Close(YamlEvent& event, std::uint32_t line);
  bool Leave(YamlEvent& event, std::uint32_t line);
  bool Empty(YamlEvent& event, State next, std::uint32_t line);
  bool Load();
  bool Fail(std::string_view problem, std::uint32_t line);

  bool Is(TokenType type) const { return token_->type == type; }
  void Skip() { scanner_.Skip(); }

  YamlScanner scanner_;
  std::size_t max_depth_;
  const YamlToken* token_ = nullptr;
  State state_ = State::kStart;
  std::vector<State> states_;
  std::size_t depth_ = 0;
  std::vector<std::pair<std::string_view, std::string_view>> tag_directives_;
  std::string problem_;
};

}  // namespace apimesh::codec
