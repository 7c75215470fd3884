#include "lib/codec/yaml/yaml_go_syntax.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/codec/yaml/yaml_scalar.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::codec {
namespace {

using Type = YamlEvent::Type;
using Kind = YamlScalar::Kind;

class GoSyntax {
 public:
  GoSyntax(const std::vector<YamlEvent>& events, std::size_t begin) : events_(events), at_(begin) {}

  std::string Run() {
    std::string text = Node();
    return inner_key_.empty() ? text : inner_key_;
  }

 private:
  static constexpr std::size_t kMaxBytes = 4096;

  std::string Node() {
    const YamlEvent& event = events_[at_++];
    std::string text;
    switch (event.type) {
      case Type::kScalar: text = Scalar(event); break;
      case Type::kSequenceStart: text = fmt::format("[]interface {{}}{{{}}}", fmt::join(Items(), ", ")); break;
      case Type::kMappingStart:
        text = fmt::format("map[interface {{}}]interface {{}}{{{}}}", fmt::join(Members(), ", "));
        break;
      default: text = "..."; break;
    }
    bytes_ += text.size();
    return text;
  }

  std::vector<std::string> Items() {
    std::vector<std::string> items;
    while (events_[at_].type != Type::kEnd) {
      if (bytes_ < kMaxBytes) {
        items.push_back(Node());
      } else {
        SkipNode();
      }
    }
    ++at_;
    return items;
  }

  std::vector<std::string> Members() {
    std::vector<std::string> members;
    while (events_[at_].type != Type::kEnd) {
      if (bytes_ >= kMaxBytes) {
        SkipNode();
        continue;
      }
      const bool collection = events_[at_].type == Type::kSequenceStart || events_[at_].type == Type::kMappingStart;
      std::string key = Node();
      if (collection && inner_key_.empty()) inner_key_ = key;
      members.push_back(key + ":" + Node());
    }
    ++at_;
    std::sort(members.begin(), members.end());  // Go sorts them by key
    return members;
  }

  void SkipNode() {
    std::size_t depth = 0;
    do {
      const Type type = events_[at_++].type;
      if (type == Type::kSequenceStart || type == Type::kMappingStart) ++depth;
      if (type == Type::kEnd) --depth;
    } while (depth > 0);
  }

  static std::string Scalar(const YamlEvent& event) {
    YamlScalar scalar;
    if (event.tag == YamlTag::kNone) {
      if (event.implicit) scalar = ResolveYamlScalar(event.value);
    } else {
      (void)ResolveTaggedScalar(event.tag, event.value, scalar);
    }
    switch (scalar.kind) {
      case Kind::kNull: return "interface {}(nil)";
      case Kind::kBool: return scalar.boolean ? "true" : "false";
      case Kind::kInteger: return fmt::format("{}", scalar.integer);
      case Kind::kUnsigned: return fmt::format("{:#x}", scalar.number);
      case Kind::kFloat: return fmt::format("{}", scalar.real);
      case Kind::kString: break;
    }
    return meta::Quoted(event.value.substr(0, kMaxBytes));
  }

  const std::vector<YamlEvent>& events_;
  std::size_t at_;
  std::size_t bytes_ = 0;
  std::string inner_key_;
};

}  // namespace

std::string YamlGoSyntax(const std::vector<YamlEvent>& events, std::size_t begin) {
  return GoSyntax(events, begin).Run();
}

}  // namespace apimesh::codec
