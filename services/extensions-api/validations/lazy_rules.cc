#include "services/extensions-api/validations/lazy_rules.h"

#include "lib/codec/codec.h"
#include "lib/meta/object.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

constexpr std::string_view kNeeded[] = {"type",
                                        "format",
                                        "nullable",
                                        "x-kubernetes-int-or-string",
                                        "x-kubernetes-embedded-resource",
                                        "x-kubernetes-list-type",
                                        "x-kubernetes-list-map-keys",
                                        "x-kubernetes-validations"};

void AppendName(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ',';
  codec::AppendJson(out, json::string(name));
  out += ':';
}

void AppendSchema(std::string& out, const json::object& schema) {
  out += '{';
  for (const std::string_view name : kNeeded) {
    const json::value* value = meta::FindField(schema, name);
    if (!value) continue;
    AppendName(out, name);
    codec::AppendJson(out, *value);
  }
  for (const char* name : {"items", "additionalProperties"}) {
    const json::value* inner = meta::FindField(schema, name);
    if (!inner || !inner->is_object()) continue;
    AppendName(out, name);
    AppendSchema(out, inner->get_object());
  }
  const json::value* properties = meta::FindField(schema, "properties");
  if (properties && properties->is_object()) {
    AppendName(out, "properties");
    out += '{';
    for (const auto& [name, property] : properties->get_object()) {
      if (!property.is_object()) continue;
      AppendName(out, name);
      AppendSchema(out, property.get_object());
    }
    out += '}';
  }
  out += '}';
}

/// Rules that refuse every object. They are not needed unless AppendSchema() writes what the parser refuses.
std::shared_ptr<const RuleTree> Unreadable() {
  auto tree = std::make_shared<RuleTree>();
  auto rule = std::make_shared<CompiledRule>();
  rule->error = "the schema can't be read";
  tree->rules.emplace_back().compiled = std::move(rule);
  return tree;
}

}  // namespace

std::shared_ptr<const LazyRules> LazyRules::Make(const json::object& schema, const schema::Node& node,
                                                 RuleMetrics metrics) {
  if (!HasRules(schema)) return nullptr;
  std::string text;
  AppendSchema(text, schema);
  text.shrink_to_fit();
  return std::shared_ptr<const LazyRules>(new LazyRules(std::move(text), node, metrics));
}

const RuleTree& LazyRules::Get() const {
  std::call_once(once_, [this] {
    const meta::Result<json::value> schema = codec::ParseJson(text_, meta::NewArena());
    if (schema && schema->is_object()) {
      tree_ = metrics_.MeasureCompilation([&] { return CompileRules(schema->get_object(), node_, true); });
    }
    if (!tree_) tree_ = Unreadable();
    std::string().swap(text_);  // an assignment would keep the memory
  });
  return *tree_;
}

}  // namespace apimesh::extensions_api
