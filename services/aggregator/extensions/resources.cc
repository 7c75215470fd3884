#include "services/aggregator/extensions/resources.h"

#include <deque>

#include <fmt/format.h>
#include <openssl/sha.h>

#include "lib/base/hash/hex.h"
#include "lib/base/text/text.h"
#include "lib/codec/codec.h"
#include "lib/meta/names.h"
#include "lib/schema/builtin.h"
#include "lib/schema/openapi/openapi.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;
using Texts = google::protobuf::RepeatedPtrField<std::string>;

constexpr int kMaxResources = 100, kMaxNames = 20;
constexpr std::size_t kMaxSchemaBytes = 512 << 10, kMaxSchemaDepth = 64;

bool IsLabel(const std::string& text) { return meta::CheckDns1035Label(text).empty(); }
bool IsKind(const std::string& text) { return IsLabel(LowerCase(text)); }

/// Collects what is wrong with a description, and the documents while it is read.
class Reader {
 public:
  Reader(const meta::GroupVersion& version, Refusal& refusal) : version_(version), refusal_(refusal) {}

  bool Read(const mesh::v1::GroupVersion& described) {
    if (described.resources_size() > kMaxResources)
      return Refuse(fmt::format("it has more than {} resources", kMaxResources));
    for (const mesh::v1::Resource& resource : described.resources()) {
      if (!Add(resource)) return false;
    }
    return true;
  }

  ExtensionResourcesPtr Take(const schema::DescriptionTexts& texts) {
    made_->resource_list = codec::WriteJson(json::object{{"kind", "APIResourceList"},
                                                         {"apiVersion", "v1"},
                                                         {"groupVersion", version_.ToString()},
                                                         {"resources", std::move(listed_)}});
    made_->shared_watches = shared_;
    if (described_.empty()) return made_;
    made_->openapi_v2 = codec::WriteJson(schema::OpenApiV2(described_, schema::Builtin(), texts));
    made_->openapi_v3 = codec::WriteJson(schema::OpenApiV3(version_, described_, schema::Builtin(), texts));
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(made_->openapi_v3.data()), made_->openapi_v3.size(), digest);
    made_->openapi_hash = UpperHex(digest);
    return made_;
  }

 private:
  bool Refuse(std::string why) {
    refusal_ = {"InvalidDescription", "the description of the server is refused: " + std::move(why)};
    return false;
  }

  bool ReadVerbs(const std::string& name, const Texts& texts, meta::VerbSet& verbs, bool subresource) {
    for (const std::string& text : texts) {
      const meta::Verb verb = meta::VerbFromString(text);
      const bool known = subresource
                             ? verb == meta::Verb::kGet || verb == meta::Verb::kPatch || verb == meta::Verb::kUpdate
                             : meta::kStoredResourceVerbs.contains(verb);
      if (!known) return Refuse(fmt::format("{} has the verb \"{:.40}\"", name, text));
      verbs.insert(verb);
    }
    return !verbs.empty() || Refuse(fmt::format("{} has no verbs", name));
  }

  bool ReadNames(const char* field, const std::string& resource, const Texts& names, json::object& out) {
    if (names.size() > kMaxNames) return Refuse(fmt::format("{} has more than {} {}", resource, kMaxNames, field));
    if (names.empty()) return true;
    json::array& list = out[field].emplace_array();
    for (const std::string& name : names) {
      if (!IsLabel(name)) return Refuse(fmt::format("{} has invalid {}", resource, field));
      list.emplace_back(name);
    }
    return true;
  }

  static json::array NamesOf(meta::VerbSet verbs) {
    json::array names;
    for (const std::string_view verb : verbs.Names()) names.emplace_back(verb);
    return names;
  }

  /// Adds an element of APIResourceList.resources. Returns nullptr if the name is taken.
  json::object* List(const std::string& name, const std::string& singular, bool namespaced, const std::string& kind,
                     meta::VerbSet verbs) {
    if (!made_->resources.try_emplace(name, ExtensionResources::Served{kind, verbs}).second) {
      Refuse(fmt::format("{} is there twice", name));
      return nullptr;
    }
    listed_.push_back(json::object{{"name", name},
                                   {"singularName", singular},
                                   {"namespaced", namespaced},
                                   {"kind", kind},
                                   {"verbs", NamesOf(verbs)}});
    return &listed_.back().get_object();
  }

  const json::object* ReadSchema(const mesh::v1::Resource& resource) {
    static const json::object any{{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}};
    if (resource.schema().empty()) return &any;
    codec::ParseLimits limits;
    limits.bytes = kMaxSchemaBytes;
    limits.depth = kMaxSchemaDepth;
    meta::Result<json::value> parsed = codec::ParseJson(resource.schema(), meta::NewArena(), nullptr, limits);
    if (!parsed || !parsed->is_object() || meta::FindString(parsed->get_object(), "type") != "object") {
      Refuse(fmt::format("the schema of {} is not a JSON object with type \"object\", at most {} KiB and depth {}",
                         resource.name(), kMaxSchemaBytes >> 10, kMaxSchemaDepth));
      return nullptr;
    }
    schemas_.push_back(std::move(*parsed));
    return &schemas_.back().get_object();
  }

  bool Add(const mesh::v1::Resource& from) {
    if (!IsLabel(from.name())) return Refuse(fmt::format("\"{:.80}\" is not a name of a resource", from.name()));
    const std::string singular = from.singular().empty() ? LowerCase(from.kind()) : from.singular();
    const std::string list_kind = from.list_kind().empty() ? from.kind() + "List" : from.list_kind();
    if (!IsKind(from.kind()) || !IsKind(list_kind) || !IsLabel(singular))
      return Refuse(fmt::format("{} has an invalid kind, list kind or singular name", from.name()));
    schema::OpenApiResource resource;
    if (!ReadVerbs(from.name(), from.verbs(), resource.verbs, false)) return false;
    json::object* const listed = List(from.name(), singular, !from.cluster_scoped(), from.kind(), resource.verbs);
    if (!listed || !ReadNames("shortNames", from.name(), from.short_names(), *listed) ||
        !ReadNames("categories", from.name(), from.categories(), *listed))
      return false;
    resource.kind = {version_.group, version_.version, from.kind()};
    resource.plural = from.name();
    resource.list_kind = list_kind;
    resource.namespaced = !from.cluster_scoped();
    resource.custom_schema = ReadSchema(from);
    if (!resource.custom_schema) return false;
    if (from.shared_watches()) shared_->insert(from.name());
    if (from.subresources_size() > kMaxNames) return Refuse(fmt::format("{} has too many subresources", from.name()));
    for (const mesh::v1::Subresource& sub : from.subresources()) {
      const std::string kind = sub.kind().empty() ? from.kind() : sub.kind();
      if (!IsLabel(sub.name()) || !IsKind(kind))
        return Refuse(fmt::format("{} has a subresource with an invalid name or kind", from.name()));
      const std::string path = from.name() + "/" + sub.name();
      meta::VerbSet verbs;
      if (!ReadVerbs(path, sub.verbs(), verbs, true) || !List(path, "", resource.namespaced, kind, verbs)) return false;
      // A kind that is not described has no definition to which the documents could refer.
      if (kind == from.kind()) resource.subresources.push_back({sub.name(), resource.kind, verbs});
    }
    described_.push_back(std::move(resource));
    return true;
  }

  const meta::GroupVersion version_;
  Refusal& refusal_;
  const std::shared_ptr<ExtensionResources> made_ = std::make_shared<ExtensionResources>();
  const std::shared_ptr<std::unordered_set<std::string>> shared_ = std::make_shared<std::unordered_set<std::string>>();
  json::array listed_;
  std::deque<json::value> schemas_;  // referred to by described_
  std::vector<schema::OpenApiResource> described_;
};

}  // namespace

ExtensionResourcesPtr ReadResources(const mesh::v1::Description& description, const meta::GroupVersion& version,
                                    const schema::DescriptionTexts& texts, Refusal& refusal) {
  if (description.contract_version() != kContractVersion) {
    refusal = {
        "ContractVersionMismatch",
        fmt::format("the server implements version {} of the contract mesh.v1.Delegate, and version {} is needed",
                    description.contract_version(), kContractVersion)};
    return nullptr;
  }
  for (const mesh::v1::GroupVersion& described : description.group_versions()) {
    if (described.group() != version.group || described.version() != version.version) continue;
    Reader reader(version, refusal);
    return reader.Read(described) ? reader.Take(texts) : nullptr;
  }
  refusal = {"GroupVersionNotServed", fmt::format("the server does not describe {}", version.ToString())};
  return nullptr;
}

}  // namespace apimesh::aggregator
