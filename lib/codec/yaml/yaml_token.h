#pragma once

#include <cstdint>
#include <string_view>

namespace apimesh::codec {

enum class TokenType : std::uint8_t {
  kStreamEnd,
  kVersionDirective,
  kTagDirective,
  kDocumentStart,
  kDocumentEnd,
  kBlockSequenceStart,
  kBlockMappingStart,
  kBlockEnd,
  kFlowSequenceStart,
  kFlowSequenceEnd,
  kFlowMappingStart,
  kFlowMappingEnd,
  kBlockEntry,
  kFlowEntry,
  kKey,
  kValue,
  kAlias,
  kAnchor,
  kTag,
  kScalar,
};

/// One token of a YAML text. The views are valid as long as the scanner.
struct YamlToken {
  TokenType type = TokenType::kStreamEnd;
  bool plain = false;           // scalars: neither quoted nor a block scalar; version directives: the version is 1.1
  std::uint32_t line = 0;       // the line of its first character, from 0
  std::uint32_t key_level = 0;  // 1 + the flow level whose simple key may begin with this token; 0: none
  std::string_view value;       // scalars: the text; anchors and aliases: the name; tags and tag directives: the handle
  std::string_view suffix;      // tags: the text after the handle; tag directives: the prefix of the handle
};

}  // namespace apimesh::codec
