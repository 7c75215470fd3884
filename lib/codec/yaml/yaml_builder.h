#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <boost/json/value_stack.hpp>

#include "lib/base/hash/seeded_hash.h"
#include "lib/codec/codec.h"
#include "lib/codec/key_set.h"
#include "lib/codec/yaml/yaml_events.h"
#include "lib/codec/yaml/yaml_scalar.h"

namespace apimesh::codec {

/// Builds a JSON document from YAML events as sigs.k8s.io/yaml does: aliases are replaced with copies, merge keys
/// ("<<") with the members of the referenced mappings, and keys are converted to strings.
///
/// The events of anchored nodes are recorded, and an alias replays them. Copies cost memory and time, so their number
/// is limited, as in sigs.k8s.io/yaml, and so is their size.
class YamlBuilder {
 public:
  struct Options {
    bool find_duplicates = false;
    bool all_strings = false;  // scalars are strings as written
  };

  YamlBuilder(meta::json::storage_ptr arena, Options options, const ParseLimits& limits);

  /// Returns false if the document exceeds a limit or refers to an unknown anchor; Problem() then returns the error.
  /// All other errors are returned by Finish(), because sigs.k8s.io/yaml reads a document to its end first.
  bool Add(const YamlEvent& event);
  meta::Result<meta::json::value> Finish();
  meta::ApiError Problem() const { return problem_.value_or(meta::ApiError()); }

  /// Returns the message about duplicate keys of mappings, or "" if there are none.
  std::string Duplicates() const;

 private:
  enum class Expects : std::uint8_t { kItem, kKey, kValue, kMerge };

  struct Frame {
    Expects expects = Expects::kItem;
    bool merged = false;     // its members belong to the enclosing mapping
    bool duplicate = false;  // the key of the next value is a duplicate
    std::uint32_t value_line = 0;
    std::size_t count = 0;
    std::size_t owner = 0;      // for mappings: the frame that holds the keys
    std::string duplicate_key;  // as shown in the complaint
    KeySet keys{0};
  };
  struct Anchor {
    std::string_view name;
    std::size_t begin = 0, end = 0;  // positions in recorded_; end is 0 while the node is open
  };

  bool Resolve(YamlEvent& event);
  void Record(const YamlEvent& event);
  bool CountCopy(std::size_t bytes);
  void SetTooManyNodes();

  void Build(const YamlEvent& event);
  void Replay(std::size_t begin, std::size_t end);
  void MergeSequence(std::size_t begin, std::size_t end);
  std::size_t EndOf(std::size_t begin) const;
  void CountDecoded();
  void Alias(const YamlEvent& event);
  void Scalar(const YamlEvent& event);
  void Key(const YamlEvent& event, const YamlScalar& scalar);
  void Value(const YamlEvent& event, const YamlScalar& scalar);
  bool Meaning(const YamlEvent& event, YamlScalar& scalar);
  void Open(const YamlEvent& event);
  void Close();
  void EndOfValue();
  void InvalidKey(std::size_t begin);
  bool ExpectsKey() const { return !frames_.empty() && frames_.back().expects == Expects::kKey; }
  bool ExpectsMerge() const { return !frames_.empty() && frames_.back().expects == Expects::kMerge; }
  void Fail(std::string text);

  const ParseLimits& limits_;
  Options options_;
  meta::json::value_stack stack_;
  std::vector<Frame> frames_;
  bool has_root_ = false;

  std::unordered_map<std::string_view, std::uint32_t, SeededHash> names_;
  std::vector<Anchor> anchors_;
  std::vector<YamlEvent> recorded_;
  struct Recording {
    std::size_t depth;  // the depth of the collection whose end ends the recording
    std::uint32_t anchor;
  };
  std::vector<Recording> recordings_;
  std::size_t depth_ = 0;
  // A sequence of mappings to merge, or a collection that is a key, is recorded completely before it is processed.
  // held_depth_ is 0 if there is none.
  std::size_t held_begin_ = 0, held_depth_ = 0;

  std::size_t nodes_ = 0, copied_ = 0, decoded_ = 1, decoded_from_aliases_ = 0, alias_depth_ = 0;
  std::vector<std::string_view> keys_;
  std::deque<std::string> typed_keys_;  // makes the key 1 different from the key "1"
  std::vector<std::string> duplicates_;
  std::size_t duplicates_bytes_ = 0;
  std::string failure_;     // a decoding error; nothing is built after it
  std::string conversion_;  // the error for a value that cannot be represented in JSON
  std::string binary_;
  std::optional<meta::ApiError> problem_;
};

}  // namespace apimesh::codec
