#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/validation/ip_rules.h"

namespace apimesh::core_api {
namespace {

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

/// A label of a search path may begin with an underscore and contain underscores.
bool IsSearchLabel(std::string_view label) {
  if (label.starts_with('_')) label.remove_prefix(1);
  return !label.empty() && IsLowerOrDigit(label.front()) && IsLowerOrDigit(label.back()) &&
         std::all_of(label.begin(), label.end(), [](char c) { return IsLowerOrDigit(c) || c == '-' || c == '_'; });
}

meta::Complaints CheckSearchPath(std::string_view path) {
  constexpr std::size_t kMaxLength = 253;
  meta::Complaints complaints;
  if (path.size() > kMaxLength) complaints.push_back(fmt::format("must be no more than {} characters", kMaxLength));
  bool valid = true;
  for (std::size_t begin = 0; begin <= path.size() && valid;) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    valid = IsSearchLabel(path.substr(begin, end - begin));
    begin = end + 1;
  }
  if (!valid) {
    complaints.push_back(meta::PatternText(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must "
        "start and end with an alphanumeric character",
        "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*", {"example.com"}));
  }
  return complaints;
}

/// Returns the items of a list of texts.
std::vector<std::string_view> Texts(const Check& holder, std::string_view field) {
  std::vector<std::string_view> texts;
  const meta::json::value* list = meta::FindField(holder.Object(), field);
  if (!list || !list->is_array()) return texts;
  for (const meta::json::value& item : list->get_array())
    texts.push_back(item.is_string() ? std::string_view(item.get_string()) : std::string_view());
  return texts;
}

void ValidateDnsSearches(const Check& config) {
  constexpr std::size_t kMaxPaths = 32, kMaxCharacters = 2048;
  const std::vector<std::string_view> searches = Texts(config, "searches");
  if (searches.size() > kMaxPaths)
    config.Invalid("searches", fmt::format("must not have more than {} search paths", kMaxPaths));
  std::size_t characters = searches.empty() ? 0 : searches.size() - 1;
  for (const std::string_view search : searches) characters += search.size();
  if (characters > kMaxCharacters) {
    config.Invalid(
        "searches",
        fmt::format("must not have more than {} characters (including spaces) in the search list", kMaxCharacters));
  }
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (searches[i] == ".") continue;
    const std::string_view search = searches[i].substr(0, searches[i].size() - searches[i].ends_with('.'));
    for (std::string& complaint : CheckSearchPath(search)) {
      config.Add(meta::Invalid(config.Path().Child("searches").Index(i).ToString(), meta::Quoted(search),
                               std::move(complaint)));
    }
  }
}

}  // namespace

void ValidateDnsConfig(const Check& spec) {
  constexpr std::size_t kMaxServers = 3;
  const std::optional<Check> config = spec.Child("dnsConfig");
  const std::vector<std::string_view> servers =
      config ? Texts(*config, "nameservers") : std::vector<std::string_view>();
  if (spec.Text("dnsPolicy") == "None" && servers.empty()) {
    spec.Add(meta::Required(spec.Path().Child("dnsConfig").ToString() + (config ? ".nameservers" : ""),
                            config ? "must provide at least one DNS nameserver when `dnsPolicy` is None"
                                   : "must provide `dnsConfig` when `dnsPolicy` is None"));
    return;
  }
  if (!config) return;
  if (servers.size() > kMaxServers)
    config->Invalid("nameservers", fmt::format("must not have more than {} nameservers", kMaxServers));
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (std::string& complaint : CheckIp(servers[i])) {
      config->Add(meta::Invalid(config->Path().Child("nameservers").Index(i).ToString(), meta::Quoted(servers[i]),
                                std::move(complaint)));
    }
  }
  ValidateDnsSearches(*config);
  for (const Check& option : config->Each("options")) {
    if (option.Text("name").empty()) option.Add(meta::Required(option.Path().ToString(), "must not be empty"));
  }
}

}  // namespace apimesh::core_api
