#include "lib/encryption/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/secrets/wiping_memory.h"
#include "lib/base/text/duration.h"
#include "lib/codec/codec.h"

namespace apimesh::encryption {
namespace {

namespace json = meta::json;

/// Reads a document strictly: the parser asks for each field once, and a field that it did not ask for is unknown.
class Reader {
 public:
  Reader(const json::value& value, std::string path, std::vector<std::string>& errors)
      : path_(std::move(path)), errors_(errors), object_(value.if_object()) {
    if (!object_ && !value.is_null()) Complain("is not an object");
  }

  void Known(std::initializer_list<std::string_view> fields) {
    if (!object_) return;
    for (const auto& member : *object_) {
      if (std::find(fields.begin(), fields.end(), std::string_view(member.key())) == fields.end()) {
        errors_.push_back(fmt::format("unknown field \"{}\"", Below(member.key())));
      }
    }
  }
  /// Returns nullptr if the field is missing or null.
  const json::value* Get(std::string_view field) {
    const json::value* found = object_ ? object_->if_contains(field) : nullptr;
    return found && !found->is_null() ? found : nullptr;
  }
  std::string String(std::string_view field) {
    const json::value* found = Get(field);
    if (!found) return {};
    if (const json::string* text = found->if_string()) return std::string(*text);
    Complain(fmt::format(".{} is not a string", field));
    return {};
  }
  const json::array& Array(std::string_view field) {
    static const json::array kNone;
    const json::value* found = Get(field);
    if (!found) return kNone;
    if (const json::array* array = found->if_array()) return *array;
    Complain(fmt::format(".{} is not a list", field));
    return kNone;
  }
  std::string Below(std::string_view field) const {
    return path_.empty() ? std::string(field) : path_ + "." + std::string(field);
  }
  void Complain(std::string_view what) { errors_.push_back(path_ + std::string(what)); }

 private:
  const std::string path_;
  std::vector<std::string>& errors_;
  const json::object* object_;
};

std::vector<NamedKey> ReadKeys(Reader parent, std::string_view field, std::vector<std::string>& errors) {
  Reader provider(*parent.Get(field), parent.Below(field), errors);
  provider.Known({"keys"});
  std::vector<NamedKey> keys;
  for (const json::value& value : provider.Array("keys")) {
    Reader key(value, fmt::format("{}[{}]", provider.Below("keys"), keys.size()), errors);
    key.Known({"name", "secret"});
    keys.push_back({key.String("name"), key.String("secret")});
  }
  return keys;
}

KmsConfig ReadKms(Reader parent, std::vector<std::string>& errors) {
  Reader kms(*parent.Get("kms"), parent.Below("kms"), errors);
  kms.Known({"apiVersion", "name", "cachesize", "endpoint", "timeout"});
  KmsConfig config;
  config.api_version = kms.String("apiVersion");
  if (config.api_version.empty()) config.api_version = "v1";
  config.name = kms.String("name");
  config.endpoint = kms.String("endpoint");
  if (const json::value* size = kms.Get("cachesize")) {
    if (size->is_int64()) {
      config.cache_size = size->get_int64();
    } else {
      kms.Complain(".cachesize is not a whole number");
    }
  }
  if (kms.Get("timeout")) {
    std::string text = kms.String("timeout");
    const bool negative = text.starts_with('-');
    if (negative) text.erase(0, 1);
    const auto timeout = ParseDuration(text);
    if (!timeout) kms.Complain(fmt::format(".timeout: time: invalid duration \"{}\"", text));
    config.timeout = timeout.value_or(config.timeout) * (negative ? -1 : 1);
  }
  return config;
}

ProviderConfig ReadProvider(const json::value& value, std::string path, std::vector<std::string>& errors) {
  Reader reader(value, std::move(path), errors);
  reader.Known({"aesgcm", "aescbc", "secretbox", "identity", "kms"});
  ProviderConfig provider;
  if (reader.Get("aesgcm")) provider.aesgcm = ReadKeys(reader, "aesgcm", errors);
  if (reader.Get("aescbc")) provider.aescbc = ReadKeys(reader, "aescbc", errors);
  if (reader.Get("secretbox")) provider.secretbox = ReadKeys(reader, "secretbox", errors);
  if (reader.Get("kms")) provider.kms = ReadKms(reader, errors);
  provider.identity = reader.Get("identity") != nullptr;
  return provider;
}

}  // namespace

ResourceName ResourceName::Parse(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, dot)), std::string(text.substr(dot + 1))};
}

std::string ResourceName::ToString() const {
  if (group.empty()) return resource == "*" ? "*." : resource;
  return resource + "." + group;
}

std::string Aggregate(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return errors.front();
  return fmt::format("[{}]", fmt::join(errors, ", "));
}

Result<Config> ParseConfig(std::string_view text) {
  codec::Strictness strict;
  const meta::Result<json::value> document = codec::ParseYaml(text, WipingMemory::New(), &strict);
  if (!document) return Fail(document.error().Message());
  std::vector<std::string> errors = strict.complaints;
  Reader root(*document, "", errors);
  if (root.String("apiVersion") != "apiserver.config.k8s.io/v1" || root.String("kind") != "EncryptionConfiguration") {
    return Fail(
        fmt::format("no kind \"{}\" is registered for version \"{}\"", root.String("kind"), root.String("apiVersion")));
  }
  root.Known({"apiVersion", "kind", "resources"});
  Config config;
  for (const json::value& value : root.Array("resources")) {
    const std::string path = fmt::format("resources[{}]", config.rules.size());
    Reader reader(value, path, errors);
    reader.Known({"resources", "providers"});
    ResourceRule rule;
    for (const json::value& name : reader.Array("resources")) {
      if (!name.is_string()) {
        reader.Complain(".resources holds something that is not a string");
        continue;
      }
      rule.resources.emplace_back(name.get_string());
    }
    for (const json::value& provider : reader.Array("providers")) {
      rule.providers.push_back(
          ReadProvider(provider, fmt::format("{}.providers[{}]", path, rule.providers.size()), errors));
    }
    config.rules.push_back(std::move(rule));
  }
  if (!errors.empty()) return Fail(fmt::format("strict decoding error: {}", fmt::join(errors, ", ")));
  return config;
}

}  // namespace apimesh::encryption
