#include "services/aggregator/audit/policy_file.h"

#include <stdexcept>

#include "lib/base/log.h"
#include "lib/codec/codec.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;
using meta::FieldErrors;

constexpr std::string_view kApiVersion = "audit.k8s.io/v1";
constexpr AuditLevel kLevels[] = {AuditLevel::kNone, AuditLevel::kMetadata, AuditLevel::kRequest,
                                  AuditLevel::kRequestResponse};
constexpr AuditStage kStages[] = {AuditStage::kRequestReceived, AuditStage::kResponseStarted,
                                  AuditStage::kResponseComplete, AuditStage::kPanic};

/// Returns the name of a JSON type in Go's messages.
std::string_view TypeOf(const json::value& value) {
  if (value.is_string()) return "string";
  if (value.is_bool()) return "bool";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "number";
}

/// Reads the fields of one object, and reports fields that nothing reads. `type` is the Go type of the object.
class Reader {
 public:
  Reader(const json::object& object, std::string path, std::string_view type)
      : object_(object), path_(std::move(path)), type_(type) {}

  const json::value* Field(std::string_view name, json::kind kind, std::string_view type) {
    known_.push_back(name);
    const json::value* value = object_.if_contains(name);
    if (!value || value->is_null()) return nullptr;
    if (value->kind() != kind) throw WrongType(name, *value, type);
    return value;
  }
  std::string String(std::string_view name) {
    const json::value* value = Field(name, json::kind::string, "string");
    return value ? std::string(value->get_string()) : std::string();
  }
  std::optional<bool> Bool(std::string_view name) {
    const json::value* value = Field(name, json::kind::bool_, "bool");
    return value ? std::optional(value->get_bool()) : std::nullopt;
  }
  std::vector<std::string> Strings(std::string_view name) {
    std::vector<std::string> all;
    for (const json::value& item : List(name, "[]string")) {
      if (!item.is_string()) throw WrongType(name, item, "string");
      all.emplace_back(item.get_string());
    }
    return all;
  }
  std::vector<const json::object*> Objects(std::string_view name, std::string_view type) {
    std::vector<const json::object*> all;
    for (const json::value& item : List(name, fmt::format("[]{}", type))) {
      if (!item.is_object()) throw WrongType(name, item, type);
      all.push_back(&item.get_object());
    }
    return all;
  }
  std::string Path(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  }
  /// Called after all known fields were read.
  void WarnOfOthers() const {
    for (const auto& member : object_) {
      if (std::find(known_.begin(), known_.end(), member.key()) != known_.end()) continue;
      log::Warning(
          "Audit policy contains errors, falling back to lenient decoding: strict decoding error: unknown field {}",
          meta::Quoted(Path(member.key())));
    }
  }

 private:
  const json::array& List(std::string_view name, std::string_view type) {
    static const json::array kEmpty;
    const json::value* value = Field(name, json::kind::array, type);
    return value ? value->get_array() : kEmpty;
  }
  /// Go's message has the path without indexes.
  std::runtime_error WrongType(std::string_view name, const json::value& value, std::string_view type) const {
    std::string path = Path(name);
    for (std::size_t open = path.find('['); open != std::string::npos; open = path.find('[')) {
      path.erase(open, path.find(']') + 1 - open);
    }
    return std::runtime_error(
        fmt::format("failed decoding: json: cannot unmarshal {} into Go struct field {}.{} of type {}", TypeOf(value),
                    type_, path, type));
  }

  const json::object& object_;
  const std::string path_;
  const std::string_view type_;
  std::vector<std::string_view> known_;
};

template <class Value, std::size_t N>
std::vector<std::string> Names(const Value (&values)[N]) {
  std::vector<std::string> names;
  for (const Value value : values) names.emplace_back(ToString(value));
  return names;
}

template <class Value, std::size_t N>
std::optional<Value> Find(const Value (&values)[N], std::string_view name) {
  for (const Value value : values) {
    if (ToString(value) == name) return value;
  }
  return std::nullopt;
}

void ReadStages(Reader& reader, bool (&omitted)[4], FieldErrors& errors) {
  const std::vector<std::string> stages = reader.Strings("omitStages");
  for (std::size_t i = 0; i < stages.size(); ++i) {
    if (const auto stage = Find(kStages, stages[i])) {
      omitted[static_cast<int>(*stage)] = true;
    } else {
      errors.push_back(meta::Invalid(fmt::format("{}[{}]", reader.Path("omitStages"), i), meta::Quoted(stages[i]),
                                     fmt::format("allowed stages are {}", fmt::join(Names(kStages), ","))));
    }
  }
}

void CheckUrls(const std::vector<std::string>& urls, const std::string& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < urls.size(); ++i) {
    const std::string& url = urls[i];
    if (url == "*") continue;
    const auto invalid = [&](const char* why) {
      errors.push_back(meta::Invalid(fmt::format("{}[{}]", path, i), meta::Quoted(url), why));
    };
    if (!url.starts_with('/')) invalid("non-resource URL rules must begin with a '/' character");
    if (const std::size_t star = url.find('*'); star != std::string::npos && star + 1 < url.size()) {
      invalid("non-resource URL wildcards '*' must be the final character of the rule");
    }
  }
}

/// Returns a list as kube-apiserver's messages show it: ["a","b"].
std::string Shown(const std::vector<std::string>& list) {
  std::string text = "[";
  for (const std::string& item : list) text += (text.size() > 1 ? "," : "") + meta::Quoted(item);
  return text + "]";
}

std::vector<AuditPolicy::GroupResources> ReadResources(Reader& rule, FieldErrors& errors) {
  std::vector<AuditPolicy::GroupResources> all;
  const std::string path = rule.Path("resources");  // without an index, as in kube-apiserver
  for (const json::object* item : rule.Objects("resources", "v1.GroupResources")) {
    Reader reader(*item, path, "GroupResources");
    AuditPolicy::GroupResources entry{reader.String("group"), reader.Strings("resources"),
                                      reader.Strings("resourceNames")};
    reader.WarnOfOthers();
    if (!entry.group.empty() && entry.group != "*") {
      if (const meta::Complaints problems = meta::CheckDnsSubdomain(entry.group); !problems.empty()) {
        errors.push_back(
            meta::Invalid(path + ".group", meta::Quoted(entry.group), fmt::format("{}", fmt::join(problems, ","))));
      }
    }
    if (!entry.resource_names.empty() && entry.resources.empty()) {
      errors.push_back(meta::Invalid(path + ".resourceNames", Shown(entry.resource_names),
                                     "using resourceNames requires at least one resource"));
    }
    all.push_back(std::move(entry));
  }
  return all;
}

AuditPolicy::Rule ReadRule(const json::object& node, const std::string& path, bool omits_managed_fields,
                           FieldErrors& errors) {
  Reader reader(node, path, "PolicyRule");
  AuditPolicy::Rule rule;
  const std::string level = reader.String("level");
  if (const auto known = Find(kLevels, level)) {
    rule.decision.level = *known;
  } else if (level.empty()) {
    errors.push_back(meta::Required(reader.Path("level"), ""));
  } else {
    errors.push_back(meta::NotSupported(reader.Path("level"), meta::Quoted(level), Names(kLevels)));
  }
  rule.users = reader.Strings("users");
  rule.groups = reader.Strings("userGroups");
  rule.verbs = reader.Strings("verbs");
  rule.namespaces = reader.Strings("namespaces");
  rule.urls = reader.Strings("nonResourceURLs");
  const std::string urls = reader.Path("nonResourceURLs");
  CheckUrls(rule.urls, urls, errors);
  rule.resources = ReadResources(reader, errors);
  ReadStages(reader, rule.decision.omitted, errors);
  rule.decision.omits_managed_fields = reader.Bool("omitManagedFields").value_or(omits_managed_fields);
  reader.WarnOfOthers();
  if (!rule.urls.empty() && !(rule.resources.empty() && rule.namespaces.empty())) {
    errors.push_back(
        meta::Invalid(urls, Shown(rule.urls), "rules cannot apply to both regular resources and non-resource URLs"));
  }
  return rule;
}

std::string Aggregate(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(fmt::format("{}: {}", error.field, error.Message()));
  return texts.size() == 1 ? texts[0] : fmt::format("[{}]", fmt::join(texts, ", "));
}

void CheckKind(Reader& root) {
  const std::string kind = root.String("kind"), version = root.String("apiVersion");
  if (kind.empty() || version.empty()) {
    throw std::runtime_error("unknown group version field audit.k8s.io/__internal, Kind=Policy in policy");
  }
  if (kind != "Policy" || version != kApiVersion) {
    throw std::runtime_error(
        fmt::format("failed decoding: no kind {} is registered for version {} in scheme \"pkg/runtime/scheme.go:111\"",
                    meta::Quoted(kind), meta::Quoted(version)));
  }
}

}  // namespace

std::vector<AuditPolicy::Rule> ParseAuditRules(const std::string& text) {
  const auto document = codec::ParseYaml(text, {});
  if (!document) throw std::runtime_error("failed decoding: " + document.error().Message());
  if (!document->is_object() && !document->is_null()) {
    throw std::runtime_error(
        fmt::format("failed decoding: couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go "
                    "value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string "
                    "\"json:\\\"kind,omitempty\\\"\" }}",
                    TypeOf(*document)));
  }
  const json::object nothing;
  Reader root(document->is_object() ? document->get_object() : nothing, "", "Policy");
  CheckKind(root);
  (void)root.Field("metadata", json::kind::object, "v1.ObjectMeta");
  FieldErrors errors;
  bool omitted[4] = {};
  ReadStages(root, omitted, errors);
  const bool omits_managed_fields = root.Bool("omitManagedFields").value_or(false);
  std::vector<AuditPolicy::Rule> rules;
  for (const json::object* item : root.Objects("rules", "v1.PolicyRule")) {
    AuditPolicy::Rule rule = ReadRule(*item, fmt::format("rules[{}]", rules.size()), omits_managed_fields, errors);
    for (std::size_t i = 0; i < std::size(omitted); ++i) rule.decision.omitted[i] |= omitted[i];
    rules.push_back(std::move(rule));
  }
  root.WarnOfOthers();
  if (!errors.empty()) throw std::runtime_error(Aggregate(errors));
  if (rules.empty()) throw std::runtime_error("loaded illegal policy with 0 rules");
  return rules;
}

}  // namespace apimesh::aggregator
