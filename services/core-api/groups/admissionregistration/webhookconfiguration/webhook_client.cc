#include "services/core-api/groups/admissionregistration/webhookconfiguration/webhook_client.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/text/text.h"

namespace apimesh::core_api {
namespace {

/// The parts of a URL, as url.Parse of Go finds them.
struct Url {
  std::string scheme, host, user, query, fragment;
  bool has_user = false;
};

Url ParseUrl(std::string_view text) {
  Url url;
  if (const std::size_t hash = text.find('#'); hash != std::string_view::npos) {
    url.fragment = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  const std::size_t colon = text.find_first_of(":/?");
  const auto is_alpha = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  if (colon != std::string_view::npos && colon > 0 && text[colon] == ':' && is_alpha(text.front())) {
    url.scheme = LowerCase(text.substr(0, colon));
    text = text.substr(colon + 1);
  }
  if (const std::size_t mark = text.find('?'); mark != std::string_view::npos) {
    url.query = text.substr(mark + 1);
    text = text.substr(0, mark);
  }
  if (!text.starts_with("//")) return url;
  text = text.substr(2, text.find('/', 2) == std::string_view::npos ? text.size() : text.find('/', 2) - 2);
  const std::size_t at = text.rfind('@');
  url.has_user = at != std::string_view::npos;
  if (url.has_user) url.user = text.substr(0, at);
  url.host = url.has_user ? text.substr(at + 1) : text;
  return url;
}

void ValidateUrl(const Check& config) {
  constexpr const char* kForm = "; desired format: https://host[/path]";
  const std::string path = config.Path().Child("url").ToString();
  const auto invalid = [&](const std::string& value, std::string detail) {
    config.Add(meta::Invalid(path, meta::Quoted(value), std::move(detail)));
  };
  const Url url = ParseUrl(config.Text("url"));
  if (url.scheme != "https") invalid(url.scheme, fmt::format("'https' is the only allowed URL scheme{}", kForm));
  if (url.host.empty()) invalid(url.host, fmt::format("host must be specified{}", kForm));
  if (url.has_user) invalid(url.user, "user information is not permitted in the URL");
  if (!url.fragment.empty()) invalid(url.fragment, "fragments are not permitted in the URL");
  if (!url.query.empty()) invalid(url.query, "query parameters are not permitted in the URL");
}

void ValidateServicePath(const Check& service) {
  std::string_view path = service.Text("path");
  if (path.empty() || path == "/") return;
  const auto invalid = [&service](std::string detail) { service.Invalid("path", std::move(detail)); };
  if (path == "//") {
    invalid("segment[0] may not be empty");
    return;
  }
  if (!path.starts_with('/')) invalid("must start with a '/'");
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::size_t index = 0;
  for (std::size_t at = 0; at <= path.size(); ++index) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string_view step = path.substr(at, end - at);
    if (step.empty()) invalid(fmt::format("segment[{}] may not be empty", index));
    if (!step.empty()) {
      for (const std::string& complaint : meta::CheckDnsSubdomain(step))
        invalid(fmt::format("segment[{}]: {}", index, complaint));
    }
    at = end + 1;
  }
}

void ValidateService(const Check& service) {
  // kube-apiserver passes the name and the namespace in the wrong order, so a missing name is reported as a missing
  // namespace and vice versa.
  if (service.Text("namespace").empty()) service.Add(meta::Required(service.Path().Child("name").ToString(), ""));
  if (service.Text("name").empty()) service.Add(meta::Required(service.Path().Child("namespace").ToString(), ""));
  const std::int64_t port = service.Number("port").value_or(0);
  if (const meta::Complaints complaints = meta::CheckPortNumber(port); !complaints.empty()) {
    service.Add(meta::Invalid(service.Path().Child("port").ToString(), fmt::format("{}", port),
                              fmt::format("port is not valid: {}", fmt::join(complaints, ", "))));
  }
  ValidateServicePath(service);
}

}  // namespace

void ValidateWebhookClient(const Check& webhook) {
  const std::optional<Check> config = webhook.Child("clientConfig");
  const bool url = config && config->Has("url");
  const std::optional<Check> service = config ? config->Child("service") : std::nullopt;
  if (url == service.has_value()) {
    webhook.Add(
        meta::Required(webhook.Path().Child("clientConfig").ToString(), "exactly one of url or service is required"));
  } else if (url) {
    ValidateUrl(*config);
  } else {
    ValidateService(*service);
  }
}

}  // namespace apimesh::core_api
