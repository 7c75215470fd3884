#include "lib/encryption/providers.h"

#include <fmt/format.h>

#include "lib/base/text/base64.h"
#include "lib/encryption/ciphers.h"

namespace apimesh::encryption {
namespace {

class Choice final : public Transformer {
 public:
  Choice(std::vector<Prefixed> choices, std::string nothing_fits)
      : choices_(std::move(choices)), nothing_fits_(std::move(nothing_fits)) {}

  Result<std::string> Seal(std::string_view plain, std::string_view key) const override {
    const Prefixed& first = choices_.front();
    ASSIGN_OR_RETURN(const std::string sealed, first.transformer->Seal(plain, key));
    return first.prefix + sealed;
  }

  Result<Opened> Open(std::string_view stored, std::string_view key) const override {
    std::vector<std::string> errors;
    bool temporary = false;
    for (std::size_t i = 0; i < choices_.size(); ++i) {
      const auto& [prefix, transformer] = choices_[i];
      if (!stored.starts_with(prefix)) continue;
      Result<Opened> opened = transformer->Open(stored.substr(prefix.size()), key);
      if (opened) {
        opened->stale = opened->stale || i != 0;
        return opened;
      }
      // During a migration the identity provider is listed before the provider that is being removed, so a value it
      // cannot read may belong to a later one. While one key replaces another, the same key name may also occur twice.
      if (prefix.empty()) continue;
      temporary = temporary || opened.error().temporary;
      errors.push_back(opened.error().message);
    }
    if (errors.empty()) return Fail(nothing_fits_);
    return Fail(Aggregate(errors), temporary);
  }

  bool NeedsKeyFetch(std::string_view stored) const override {
    for (const auto& [prefix, transformer] : choices_) {
      if (stored.starts_with(prefix) && transformer->NeedsKeyFetch(stored.substr(prefix.size()))) return true;
    }
    return false;
  }
  Task<Result<>> FetchKey(std::string stored) const override {
    Result<> last;
    for (const auto& [prefix, transformer] : choices_) {
      if (!stored.starts_with(prefix)) continue;
      std::string rest = stored.substr(prefix.size());
      if (!transformer->NeedsKeyFetch(rest)) continue;
      last = co_await transformer->FetchKey(std::move(rest));
      if (last) break;
    }
    co_return last;
  }
  Task<Result<>> PrepareSeal() const override { return choices_.front().transformer->PrepareSeal(); }

 private:
  const std::vector<Prefixed> choices_;
  const std::string nothing_fits_;
};

Result<TransformerPtr> WithKeys(const std::vector<NamedKey>& keys, std::string_view provider,
                                TransformerPtr (*make)(std::string key)) {
  std::vector<Prefixed> choices;
  for (const NamedKey& named : keys) {
    std::string secret;
    if (DecodeBase64(named.secret, secret)) return Fail("could not obtain secret for named key " + named.name);
    choices.push_back({named.name + ":", make(std::move(secret))});
  }
  return FirstWritesAllRead(std::move(choices),
                            fmt::format("no matching key was found for the provided {} transformer", provider));
}

Result<Prefixed> MakeProvider(const ProviderConfig& config, const Clock& clock, const KmsFactory& connect,
                              std::vector<std::shared_ptr<Kms>>& kms) {
  Prefixed provider;
  if (config.aesgcm) {
    provider.prefix = "k8s:enc:aesgcm:v1:";
    ASSIGN_OR_RETURN(provider.transformer, WithKeys(*config.aesgcm, "AES", &AesGcm));
  } else if (config.aescbc) {
    provider.prefix = "k8s:enc:aescbc:v1:";
    ASSIGN_OR_RETURN(provider.transformer, WithKeys(*config.aescbc, "AES", &AesCbc));
  } else if (config.secretbox) {
    provider.prefix = "k8s:enc:secretbox:v1:";
    ASSIGN_OR_RETURN(provider.transformer, WithKeys(*config.secretbox, "Secretbox", &Secretbox));
  } else if (config.kms) {
    if (config.kms->api_version == "v1") {
      return Fail(
          "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead.  Set "
          "--feature-gates=KMSv1=true to use the deprecated KMSv1 feature.");
    }
    kms.push_back(std::make_shared<Kms>(config.kms->name, connect(*config.kms, clock), clock));
    provider.prefix = fmt::format("k8s:enc:kms:v2:{}:", config.kms->name);
    provider.transformer = kms.back();
  } else {
    provider.transformer = Identity();
  }
  return provider;
}

}  // namespace

TransformerPtr FirstWritesAllRead(std::vector<Prefixed> choices, std::string nothing_fits) {
  return std::make_shared<Choice>(std::move(choices), std::move(nothing_fits));
}

TransformerPtr Providers::For(const ResourceName& name) const {
  for (const ResourceName& candidate : {name, ResourceName{"*", name.group}, ResourceName{"*", "*"}}) {
    if (const auto found = by_resource.find(candidate); found != by_resource.end()) return found->second;
  }
  return Identity();
}

Result<Providers> MakeProviders(const Config& config, const Clock& clock, const KmsFactory& connect) {
  Providers providers;
  std::map<ResourceName, std::vector<Prefixed>> choices;
  for (const ResourceRule& rule : config.rules) {
    std::vector<Prefixed> of_rule;
    for (const ProviderConfig& provider : rule.providers) {
      ASSIGN_OR_RETURN(Prefixed made, MakeProvider(provider, clock, connect, providers.kms));
      of_rule.push_back(std::move(made));
    }
    for (const std::string& text : rule.resources) {
      const ResourceName name = ResourceName::Parse(text);
      for (const ResourceName& earlier : {ResourceName{"*", name.group}, ResourceName{"*", "*"}}) {
        if (choices.contains(earlier)) {
          return Fail(
              fmt::format("resource \"{}\" is masked by earlier rule \"{}\"", name.ToString(), earlier.ToString()));
        }
      }
      std::vector<Prefixed>& all = choices[name];
      all.insert(all.end(), of_rule.begin(), of_rule.end());
    }
  }
  for (auto& [name, list] : choices) {
    providers.by_resource[name] = FirstWritesAllRead(std::move(list), "no matching prefix found");
  }
  return providers;
}

}  // namespace apimesh::encryption
