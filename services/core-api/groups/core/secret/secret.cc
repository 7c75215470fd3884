#include "services/core-api/groups/core/secret/secret.h"

#include <openssl/evp.h>

#include "lib/base/text/base64.h"
#include "lib/codec/codec.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/data_bag.h"
#include "services/core-api/groups/core/secret/key_pair.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Checks that the value is JSON, as registry credentials are.
void CheckJson(const json::object& data, std::string_view key, meta::FieldErrors& errors) {
  const json::value* value = meta::FindField(data, key);
  std::string text;
  if (!value || !value->is_string() || DecodeBase64(value->get_string(), text)) return;
  const meta::Result<json::value> parsed = codec::ParseJson(text, meta::NewArena());
  if (parsed) return;
  errors.push_back(meta::Invalid(meta::Path("data").Key(key).ToString(), "\"<secret contents redacted>\"",
                                 parsed.error().Message()));
}

/// Checks the keys that a Secret of a well-known type must have.
void CheckType(const meta::Object& object, meta::FieldErrors& errors) {
  const std::string_view type = meta::FindString(object.Root(), "type");
  const json::object& data = DataBag(object, "data");
  const auto require = [&](std::string_view key) {
    if (!data.contains(json::string_view(key.data(), key.size()))) {
      errors.push_back(meta::Required(meta::Path("data").Key(key).ToString(), ""));
    }
  };
  if (type == "kubernetes.io/service-account-token") {
    const json::string* account = object.Annotation("kubernetes.io/service-account.name");
    if (!account || account->empty()) {
      errors.push_back(meta::Required("metadata.annotations[kubernetes.io/service-account.name]", ""));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    require(".dockercfg");
    CheckJson(data, ".dockercfg", errors);
  } else if (type == "kubernetes.io/dockerconfigjson") {
    require(".dockerconfigjson");
    CheckJson(data, ".dockerconfigjson", errors);
  } else if (type == "kubernetes.io/basic-auth") {
    if (!data.contains("username") && !data.contains("password")) {
      require("username");
      require("password");
    }
  } else if (type == "kubernetes.io/ssh-auth") {
    require("ssh-privatekey");
  } else if (type == "kubernetes.io/tls") {
    require("tls.crt");
    require("tls.key");
  }
}

std::string Decoded(const json::object& data, std::string_view key) {
  const json::value* value = meta::FindField(data, key);
  std::string text;
  if (value && value->is_string()) DecodeBase64(value->get_string(), text);
  return text;
}

class SecretStrategy final : public registry::Strategy {
 public:
  /// stringData is write-only: it is merged into data.
  void Default(json::object& object) const override {
    json::value* texts = meta::FindField(object, "stringData");
    if (!texts || !texts->is_object()) return;
    const json::object copy = texts->get_object();
    meta::EraseField(object, "stringData");
    if (copy.empty()) return;
    json::object& data = meta::MakeObject(object, "data");
    for (const auto& [key, value] : copy) {
      if (value.is_string()) data[key] = EncodeBase64(value.get_string());
    }
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    std::size_t bytes = 0;
    for (const auto& [key, value] : DataBag(object, "data")) {
      CheckDataKey("data", key, errors);
      bytes += DecodedSize(value);
    }
    if (bytes > kMaxDataBytes) errors.push_back(meta::TooLong("data", kMaxDataBytes));
    CheckType(object, errors);
    return errors;
  }

  /// An update without a type keeps the existing type.
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& object, const meta::Object& old) const override {
    if (meta::FindString(object.Root(), "type").empty()) object.Root()["type"] = meta::FindString(old.Root(), "type");
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    if (meta::FindString(object.Root(), "type") != "kubernetes.io/tls") return {};
    const json::object& data = DataBag(object, "data");
    std::string problem = CheckKeyPair(Decoded(data, "tls.crt"), Decoded(data, "tls.key"));
    if (problem.empty()) return {};
    return {std::move(problem)};
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const std::string_view type = meta::FindString(object.Root(), "type");
    if (type != meta::FindString(old.Root(), "type")) {
      errors.push_back(meta::Invalid("type", meta::Quoted(type), "field is immutable"));
    }
    for (const meta::FieldErrors& more : {CheckImmutable(object, old, {"data"}), Validate(ctx, object)}) {
      errors.Append(more);
    }
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), json::string(meta::FindString(object.Root(), "type")),
          DataBag(object, "data").size(), AgeCell(object, ages)};
}

}  // namespace

registry::Resource SecretResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "secrets");
  resource.strategy = std::make_shared<SecretStrategy>();
  resource.selectable_fields = {"type"};
  resource.table = {{NameColumn(),
                     {.name = "Type", .description = "What the data means."},
                     {.name = "Data", .description = "How many keys it holds."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "type", "data"}};
  return resource;
}

}  // namespace apimesh::core_api
