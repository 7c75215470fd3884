#include "lib/schema/openapi/openapi.h"

#include <fmt/format.h>

#include "lib/meta/kubernetes_version.h"
#include "lib/schema/openapi/openapi_definitions.h"

namespace apimesh::schema {
namespace {

namespace json = meta::json;
using meta::Verb;

constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

std::vector<std::string> GroupWords(std::string_view group) {
  if (group.empty()) return {"core"};
  if (group.ends_with(".k8s.io")) group.remove_suffix(7);
  std::vector<std::string> words;
  while (!group.empty()) {
    const std::size_t end = group.find_first_of(".-");
    words.emplace_back(group.substr(0, end));
    group.remove_prefix(end == std::string_view::npos ? group.size() : end + 1);
  }
  return words;
}

std::string Capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// Returns "rbacAuthorization_v1"; operation ids use "RbacAuthorizationV1".
std::string Tag(const meta::GroupVersion& version) {
  std::string tag;
  for (const std::string& word : GroupWords(version.group)) tag += tag.empty() ? word : Capital(word);
  return tag + "_" + version.version;
}
std::string OperationWord(const meta::GroupVersion& version) {
  std::string text;
  for (const std::string& word : GroupWords(version.group)) text += Capital(word);
  return text + Capital(version.version);
}

std::string PathOf(const meta::GroupVersion& version) {
  return version.group.empty() ? "/api/" + version.version : fmt::format("/apis/{}/{}", version.group, version.version);
}

struct Parameter {
  const char* name;
  const char* type;
};
constexpr Parameter kListParameters[] = {{"allowWatchBookmarks", "boolean"},
                                         {"continue", "string"},
                                         {"fieldSelector", "string"},
                                         {"labelSelector", "string"},
                                         {"limit", "integer"},
                                         {"resourceVersion", "string"},
                                         {"resourceVersionMatch", "string"},
                                         {"sendInitialEvents", "boolean"},
                                         {"shardSelector", "string"},
                                         {"timeoutSeconds", "integer"},
                                         {"watch", "boolean"}};
constexpr Parameter kWriteParameters[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}};
constexpr Parameter kPatchParameters[] = {
    {"dryRun", "string"}, {"fieldManager", "string"}, {"fieldValidation", "string"}, {"force", "boolean"}};
constexpr Parameter kGetParameters[] = {{"resourceVersion", "string"}};
constexpr Parameter kDeleteParameters[] = {{"dryRun", "string"},
                                           {"gracePeriodSeconds", "integer"},
                                           {"ignoreStoreReadErrorWithClusterBreakingPotential", "boolean"},
                                           {"orphanDependents", "boolean"},
                                           {"propagationPolicy", "string"}};
/// Custom resources support all but the last. kubectl reads this list to choose the type of the patch that it sends.
constexpr const char* kPatchTypes[] = {"application/apply-patch+yaml", "application/json-patch+json",
                                       "application/merge-patch+json", "application/strategic-merge-patch+json"};

/// Writes the paths of resources for one OpenAPI version.
class PathWriter {
 public:
  PathWriter(OpenApiVersion version, const Schema& schema, OpenApiDefinitions& definitions, json::object& paths)
      : v3_(version == OpenApiVersion::kV3), schema_(schema), definitions_(definitions), paths_(paths) {}

  void Add(const OpenApiResource& resource) {
    resource_ = &resource;
    if (resource.custom_schema) definitions_.AddCustom(resource);
    const std::string root = PathOf(resource.kind.Version());
    const std::string collection = root + (resource.namespaced ? "/namespaces/{namespace}/" : "/") + resource.plural;
    const std::string item = collection + "/{name}";
    const std::string scope = resource.namespaced ? "Namespaced" : "";
    const json::object object = KindReference();
    const json::object list = definitions_.Reference(ListDefinitionName(resource, schema_));
    json::object at_collection, at_item;
    Put(at_collection, Verb::kList, "get", "list", "list" + Word() + scope + resource.kind.kind, list, kListParameters);
    Put(at_collection, Verb::kCreate, "post", "post", "create" + Word() + scope + resource.kind.kind, object,
        kWriteParameters, &object);
    Put(at_collection, Verb::kDeleteCollection, "delete", "deletecollection",
        "delete" + Word() + "Collection" + scope + resource.kind.kind, Meta("Status"), kListParameters);
    Put(at_item, Verb::kGet, "get", "get", "read" + Word() + scope + resource.kind.kind, object, kGetParameters);
    Put(at_item, Verb::kUpdate, "put", "put", "replace" + Word() + scope + resource.kind.kind, object, kWriteParameters,
        &object);
    const json::object patch = Meta("Patch"), options = Meta("DeleteOptions");
    Put(at_item, Verb::kDelete, "delete", "delete", "delete" + Word() + scope + resource.kind.kind, Meta("Status"),
        kDeleteParameters, &options);
    Put(at_item, Verb::kPatch, "patch", "patch", "patch" + Word() + scope + resource.kind.kind, object,
        kPatchParameters, &patch);
    Close(collection, std::move(at_collection), false);
    Close(item, std::move(at_item), true);
    if (resource.namespaced && resource.verbs.contains(Verb::kList)) {
      json::object everywhere;
      Put(everywhere, Verb::kList, "get", "list", "list" + Word() + resource.kind.kind + "ForAllNamespaces", list, {});
      // The parameters of a single operation are those of its path.
      json::array parameters;
      for (const Parameter& one : kListParameters) {
        if (std::string_view(one.name) == "resourceVersion") parameters.push_back(Query({"pretty", "string"}));
        parameters.push_back(Query(one));
      }
      everywhere["parameters"] = std::move(parameters);
      paths_[root + "/" + resource.plural] = std::move(everywhere);
    }
    for (const OpenApiResource::Subresource& sub : resource.subresources) AddSubresource(sub, item, scope);
  }

 private:
  void AddSubresource(const OpenApiResource::Subresource& sub, const std::string& item, const std::string& scope) {
    const Node* node = schema_.FindKind(sub.kind);
    const json::object object = sub.kind == resource_->kind ? KindReference()
                                : node                      ? definitions_.Reference(*node)
                                                            : json::object{{"type", "string"}};
    const json::object patch = Meta("Patch");
    const std::string name = Word() + scope + resource_->kind.kind + Capital(sub.name);
    json::object operations;
    verbs_ = &sub.verbs;
    if (!resource_->custom_schema) kind_ = &sub.kind;
    Put(operations, Verb::kGet, "get", "get", "read" + name, object, kGetParameters);
    Put(operations, Verb::kCreate, "post", "post", "create" + name, object, kWriteParameters, &object);
    Put(operations, Verb::kUpdate, "put", "put", "replace" + name, object, kWriteParameters, &object);
    Put(operations, Verb::kPatch, "patch", "patch", "patch" + name, object, kPatchParameters, &patch);
    verbs_ = nullptr;
    kind_ = nullptr;
    Close(item + "/" + sub.name, std::move(operations), true);
  }

  std::string Word() const { return OperationWord(resource_->kind.Version()); }
  json::object Meta(std::string_view name) { return definitions_.Reference(fmt::format("{}{}", kMeta, name)); }
  json::object KindReference() { return definitions_.Reference(DefinitionName(*resource_, schema_)); }

  void Put(json::object& operations, Verb verb, const char* method, const char* action, std::string id,
           const json::object& answer, std::span<const Parameter> parameters, const json::object* body = nullptr) {
    if (!(verbs_ ? *verbs_ : resource_->verbs).contains(verb)) return;
    const meta::Gvk& kind = kind_ ? *kind_ : resource_->kind;
    json::object operation{{"tags", json::array{Tag(resource_->kind.Version())}}, {"operationId", std::move(id)}};
    json::array list;
    const bool patch = verb == Verb::kPatch;
    if (body && !v3_) list.push_back(BodyParameter(*body, verb != Verb::kDelete));
    for (const Parameter& one : parameters) list.push_back(Query(one));
    if (!list.empty()) operation["parameters"] = std::move(list);
    if (body && v3_) {
      json::object& content = operation["requestBody"].emplace_object();
      content["content"] = Content(*body, patch);
      if (verb != Verb::kDelete) content["required"] = true;
    }
    if (!v3_) AddTypes(operation, patch);
    json::object ok{{"description", "OK"}};
    if (v3_) {
      ok["content"] = Content(answer, false);
    } else {
      ok["schema"] = answer;
    }
    json::object responses;
    for (const char* code : SuccessCodes(patch && !resource_->custom_schema ? Verb::kUpdate : verb))
      responses[code] = SuccessOf(code, ok);
    responses["401"] = json::object{{"description", "Unauthorized"}};
    operation["responses"] = std::move(responses);
    operation["x-kubernetes-action"] = action;
    operation["x-kubernetes-group-version-kind"] =
        json::object{{"group", kind.group}, {"kind", kind.kind}, {"version", kind.version}};
    operations[method] = std::move(operation);
  }

  /// Adds what v2 says about encodings.
  void AddTypes(json::object& operation, bool patch) const {
    if (resource_->custom_schema) {
      const json::array types{"application/json", "application/yaml"};
      operation["consumes"] = patch ? json::array{"application/json-patch+json", "application/merge-patch+json",
                                                  "application/apply-patch+yaml"}
                                    : types;
      operation["produces"] = types;
      operation["schemes"] = json::array{"https"};
      return;
    }
    operation["consumes"] = patch ? PatchTypes() : json::array{"*/*"};
    operation["produces"] = json::array{"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
  }

  static json::object BodyParameter(const json::object& schema, bool required) {
    json::object out{{"name", "body"}, {"in", "body"}, {"schema", schema}};
    if (required) out["required"] = true;
    return out;
  }

  /// The codes of successful responses. A write that creates an object has 201; 202 is for work that continues after
  /// the response.
  static std::span<const char* const> SuccessCodes(Verb verb) {
    static constexpr const char* kRead[] = {"200"};
    static constexpr const char* kCreate[] = {"200", "201", "202"};
    static constexpr const char* kUpdate[] = {"200", "201"};
    static constexpr const char* kDelete[] = {"200", "202"};
    switch (verb) {
      case Verb::kCreate: return kCreate;
      case Verb::kUpdate: return kUpdate;
      case Verb::kDelete: return kDelete;
      default: return kRead;
    }
  }
  static json::object SuccessOf(std::string_view code, json::object response) {
    response["description"] = code == "201" ? "Created" : code == "202" ? "Accepted" : "OK";
    return response;
  }

  json::object Query(const Parameter& parameter) const {
    json::object out{{"name", parameter.name}, {"in", "query"}};
    if (v3_) {
      out["schema"] = json::object{{"type", parameter.type}, {"uniqueItems", true}};
    } else {
      out["type"] = parameter.type;
      out["uniqueItems"] = true;
    }
    return out;
  }

  std::span<const char* const> PatchTypeNames() const {
    return std::span(kPatchTypes).first(std::size(kPatchTypes) - (resource_->custom_schema ? 1 : 0));
  }
  json::array PatchTypes() const {
    json::array types;
    for (const char* type : PatchTypeNames()) types.emplace_back(type);
    return types;
  }

  json::object Content(const json::object& schema, bool patch) const {
    json::object content;
    if (patch) {
      for (const char* type : PatchTypeNames()) content[type] = json::object{{"schema", schema}};
      return content;
    }
    for (const char* type : {"application/json", "application/vnd.kubernetes.protobuf", "application/yaml"}) {
      if (resource_->custom_schema && std::string_view(type).find("protobuf") != std::string_view::npos) continue;
      content[type] = json::object{{"schema", schema}};
    }
    return content;
  }

  void Close(const std::string& path, json::object operations, bool has_name) {
    if (operations.empty()) return;
    json::array parameters;
    const auto add = [&](const char* name) {
      json::object one{{"name", name}, {"in", "path"}, {"required", true}};
      if (v3_) {
        one["schema"] = json::object{{"type", "string"}, {"uniqueItems", true}};
      } else {
        one["type"] = "string";
        one["uniqueItems"] = true;
      }
      parameters.push_back(std::move(one));
    };
    if (has_name) add("name");
    if (resource_->namespaced) add("namespace");
    parameters.push_back(Query({"pretty", "string"}));
    operations["parameters"] = std::move(parameters);
    paths_[path] = std::move(operations);
  }

  bool v3_;
  const Schema& schema_;
  OpenApiDefinitions& definitions_;
  json::object& paths_;
  const OpenApiResource* resource_ = nullptr;
  const meta::VerbSet* verbs_ = nullptr;
  const meta::Gvk* kind_ = nullptr;
};

/// Adds the path of the discovery document of a group-version.
void AddDiscovery(const meta::GroupVersion& version, OpenApiDefinitions& definitions, json::object& paths) {
  const std::string root = PathOf(version) + "/";
  const json::object list = definitions.Reference(fmt::format("{}APIResourceList", kMeta));
  paths[root] = json::object{
      {"get",
       json::object{
           {"tags", json::array{Tag(version)}},
           {"operationId", "get" + OperationWord(version) + "APIResources"},
           {"responses",
            json::object{
                {"200", json::object{{"description", "OK"},
                                     {"content", json::object{{"application/json", json::object{{"schema", list}}}}}}},
                {"401", json::object{{"description", "Unauthorized"}}}}}}}};
}

json::object Info() { return {{"title", "Kubernetes"}, {"version", meta::kKubernetesVersion}}; }

}  // namespace

std::string DefinitionName(const OpenApiResource& resource, const Schema& schema) {
  if (!resource.custom_schema) {
    const Node* node = schema.FindKind(resource.kind);
    if (node) return node->name;
  }
  std::string name;
  std::string_view group = resource.kind.group;
  while (!group.empty()) {
    const std::size_t dot = group.rfind('.');
    name += fmt::format("{}.", dot == std::string_view::npos ? group : group.substr(dot + 1));
    group = dot == std::string_view::npos ? std::string_view() : group.substr(0, dot);
  }
  return fmt::format("{}{}.{}", name, resource.kind.version, resource.kind.kind);
}

std::string ListDefinitionName(const OpenApiResource& resource, const Schema& schema) {
  const std::string name = DefinitionName(resource, schema);
  if (!resource.custom_schema || resource.list_kind.empty()) return name + "List";
  return name.substr(0, name.size() - resource.kind.kind.size()) + resource.list_kind;
}

json::object OpenApiV3(const meta::GroupVersion& version, std::span<const OpenApiResource> resources,
                       const Schema& schema, const DescriptionTexts& texts) {
  OpenApiDefinitions definitions(OpenApiVersion::kV3, schema, texts);
  json::object paths;
  // kube-apiserver does not describe the discovery documents of custom resources.
  const bool custom = !resources.empty() && resources.front().custom_schema;
  if (!custom) AddDiscovery(version, definitions, paths);
  PathWriter writer(OpenApiVersion::kV3, schema, definitions, paths);
  for (const OpenApiResource& resource : resources) writer.Add(resource);
  return {{"openapi", "3.0.0"},
          {"info", Info()},
          {"paths", std::move(paths)},
          {"components", json::object{{"schemas", definitions.Take()}}}};
}

json::object OpenApiV2(std::span<const OpenApiResource> resources, const Schema& schema,
                       const DescriptionTexts& texts) {
  OpenApiDefinitions definitions(OpenApiVersion::kV2, schema, texts);
  json::object paths;
  PathWriter writer(OpenApiVersion::kV2, schema, definitions, paths);
  for (const OpenApiResource& resource : resources) writer.Add(resource);
  return {{"swagger", "2.0"}, {"info", Info()}, {"paths", std::move(paths)}, {"definitions", definitions.Take()}};
}

}  // namespace apimesh::schema
