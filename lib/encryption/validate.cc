#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/encryption/config.h"

namespace apimesh::encryption {
namespace {

using meta::FieldErrors;
using meta::Path;
using meta::Quoted;

std::string QuotedList(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) text += (text.size() > 1 ? "," : "") + Quoted(value);
  return text + "]";
}

void CheckOverlap(const std::vector<std::string>& resources, const Path& path, FieldErrors& errors) {
  std::vector<ResourceName> names;
  for (const std::string& text : resources) names.push_back(ResourceName::Parse(text));
  bool overlap = false, duplicate = false;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < names.size(); ++j) {
      if (i == j) continue;
      const ResourceName &a = names[i], &b = names[j];
      if (a == b && !duplicate) {
        duplicate = true;
        continue;
      }
      const bool everything = a.resource == "*" && a.group == "*";
      overlap = overlap || everything || (a.group == b.group && (a.resource == "*" || b.resource == "*"));
    }
  }
  if (duplicate) {
    errors.push_back(
        meta::Invalid(path.ToString(), QuotedList(resources), "the same resource cannot be specified multiple times"));
  }
  if (overlap) {
    errors.push_back(
        meta::Invalid(path.ToString(), QuotedList(resources),
                      "using overlapping resources such as 'secrets' and '*.' in the same resource list is not "
                      "allowed as they will be masked"));
  }
}

/// Returns why this cannot be a resource to encrypt; empty if it can.
std::string_view BadResource(const std::string& text) {
  if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c >= 'A' && c <= 'Z'; })) {
    return "resource name should not contain capital letters";
  }
  if (text == "*") return "use '*.' to encrypt all the resources from core API group or *.* to encrypt all resources";
  static const std::set<std::string, std::less<>> kNoRest = {"apiserveripinfo", "serviceipallocations",
                                                             "servicenodeportallocations"};
  if (kNoRest.contains(text)) return "resources which do not have REST API/s cannot be encrypted";
  const ResourceName name = ResourceName::Parse(text);
  if (name.group == "events.k8s.io") {
    return "'*.events.k8s.io' objects are stored using the 'events' API group in etcd. Use 'events' instead in the "
           "config file";
  }
  if (name.group == "extensions") return "'extensions' group has been removed and cannot be used for encryption";
  if (name.group == "*" && name.resource != "*") return "encrypting the same resource across groups is not supported";
  return {};
}

void CheckKeys(const std::vector<NamedKey>& keys, const Path& path, const std::vector<std::size_t>& sizes,
               FieldErrors& errors) {
  if (keys.empty()) errors.push_back(meta::Required(path.ToString(), "at least one keys is required"));
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Path key = path.Index(i);
    const std::string secret_path = key.Child("secret").ToString();
    if (keys[i].name.empty())
      errors.push_back(meta::Required(key.Child("name").ToString(), "name is a mandatory field for a key"));
    if (keys[i].secret.empty()) {
      errors.push_back(meta::Required(secret_path, "secret is a mandatory field for a key"));
      continue;
    }
    std::string secret;
    const WipeAtEnd wipe(secret);
    if (DecodeBase64(keys[i].secret, secret)) {
      errors.push_back(meta::Invalid(secret_path, "\"REDACTED\"", "secrets must be base64 encoded"));
    } else if (std::find(sizes.begin(), sizes.end(), secret.size()) == sizes.end()) {
      std::string expected;
      for (const std::size_t size : sizes) expected += (expected.empty() ? "" : " ") + std::to_string(size);
      errors.push_back(meta::Invalid(
          secret_path, "\"REDACTED\"",
          fmt::format("secret is not of the expected length, got {}, expected one of [{}]", secret.size(), expected)));
    }
  }
}

void CheckKms(const KmsConfig& kms, const Path& path, const std::set<std::string>& names, bool reload,
              FieldErrors& errors) {
  const std::string name = path.Child("name").ToString();
  const bool v1 = kms.api_version == "v1";
  if (kms.name.empty()) errors.push_back(meta::Required(name, "name is a mandatory field for a provider"));
  if (!v1 && kms.name.find(':') != std::string::npos) {
    errors.push_back(meta::Invalid(name, Quoted(kms.name),
                                   fmt::format("invalid KMS provider name {}, must not contain ':'", kms.name)));
  }
  if ((reload || !v1) && names.contains(kms.name)) {
    errors.push_back(meta::Invalid(name, Quoted(kms.name),
                                   fmt::format("duplicate KMS provider name {}, names must be unique", kms.name)));
  }
  if (kms.timeout.count() <= 0) {
    errors.push_back(meta::Invalid(path.Child("timeout").ToString(), fmt::format("\"{}ms\"", kms.timeout.count()),
                                   "timeout should be a positive value"));
  }
  const std::string endpoint = path.Child("endpoint").ToString();
  if (kms.endpoint.empty()) {
    errors.push_back(meta::Invalid(endpoint, "\"\"", "endpoint is a mandatory field for a kms"));
  } else if (!kms.endpoint.starts_with("unix:")) {
    const std::size_t colon = kms.endpoint.find("://");
    const std::string scheme = colon == std::string::npos ? "" : kms.endpoint.substr(0, colon);
    errors.push_back(
        meta::Invalid(endpoint, Quoted(kms.endpoint),
                      fmt::format("unsupported scheme {} for KMS provider, only unix is supported", Quoted(scheme))));
  }
  const std::string size = path.Child("cachesize").ToString();
  if (!v1 && kms.cache_size)
    errors.push_back(meta::Invalid(size, std::to_string(*kms.cache_size), "cachesize is not supported in v2"));
  if (v1 && kms.cache_size == 0)
    errors.push_back(meta::Invalid(size, "0", "cachesize should be a positive value, or negative to disable"));
  if (!v1 && kms.api_version != "v2") {
    errors.push_back(meta::Invalid(path.Child("apiVersion").ToString(), Quoted(kms.api_version),
                                   "unsupported apiVersion apiVersion for KMS provider, only v1 and v2 are supported"));
  }
}

void CheckProvider(const ProviderConfig& provider, const Path& path, std::set<std::string>& kms_names, bool reload,
                   FieldErrors& errors) {
  const int found = provider.kms.has_value() + provider.aesgcm.has_value() + provider.aescbc.has_value() +
                    provider.secretbox.has_value() + provider.identity;
  // kube-apiserver prints the complete provider here, including its keys. We do not.
  if (found == 0) {
    errors.push_back(meta::Invalid(
        path.ToString(), "\"REDACTED\"",
        "provider does not contain any of the expected providers: KMS, AESGCM, AESCBC, Secretbox, Identity"));
  } else if (found > 1) {
    errors.push_back(meta::Invalid(
        path.ToString(), "\"REDACTED\"",
        "more than one provider specified in a single element, should split into different list elements"));
  }
  static const std::vector<std::size_t> kAes = {16, 24, 32}, kBox = {32};
  if (provider.kms) {
    CheckKms(*provider.kms, path.Child("kms"), kms_names, reload, errors);
    kms_names.insert(provider.kms->name);
  } else if (provider.aesgcm) {
    CheckKeys(*provider.aesgcm, path.Child("aesgcm").Child("keys"), kAes, errors);
  } else if (provider.aescbc) {
    CheckKeys(*provider.aescbc, path.Child("aescbc").Child("keys"), kAes, errors);
  } else if (provider.secretbox) {
    CheckKeys(*provider.secretbox, path.Child("secretbox").Child("keys"), kBox, errors);
  }
}

}  // namespace

FieldErrors Validate(const Config& config, bool reload) {
  FieldErrors errors;
  const Path root("resources");
  if (config.rules.empty()) errors.push_back(meta::Required("resources", "at least one resources is required"));
  std::set<std::string> kms_names;
  for (std::size_t i = 0; i < config.rules.size(); ++i) {
    const ResourceRule& rule = config.rules[i];
    const Path resources = root.Index(i).Child("resources"), providers = root.Index(i).Child("providers");
    const auto missing = [](const Path& path) {
      return meta::Required(path.ToString(), fmt::format("at least one {} is required", path.ToString()));
    };
    if (rule.resources.empty()) errors.push_back(missing(resources));
    CheckOverlap(rule.resources, resources, errors);
    for (std::size_t j = 0; j < rule.resources.size(); ++j) {
      if (const std::string_view why = BadResource(rule.resources[j]); !why.empty()) {
        errors.push_back(meta::Invalid(resources.Index(j).ToString(), Quoted(rule.resources[j]), std::string(why)));
      }
    }
    if (rule.providers.empty()) errors.push_back(missing(providers));
    for (std::size_t j = 0; j < rule.providers.size(); ++j) {
      CheckProvider(rule.providers[j], providers.Index(j), kms_names, reload, errors);
    }
  }
  return errors;
}

}  // namespace apimesh::encryption
