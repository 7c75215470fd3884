#include "services/core-api/groups/core/pod/status_ips.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "services/core-api/validation/ip_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

std::vector<std::string> Ips(const meta::Object& pod, std::string_view list) {
  std::vector<std::string> ips;
  for (const json::object& one : Objects(meta::Find(pod.Root(), "status", list))) {
    ips.emplace_back(meta::FindString(one, "ip"));
  }
  return ips;
}

/// Formats a list as kube-apiserver's error messages do, with the Go names of the fields.
std::string ShownIps(const std::vector<std::string>& ips) {
  std::vector<std::string> shown;
  for (const std::string& ip : ips) shown.push_back(fmt::format(R"({{"IP":{}}})", meta::Quoted(ip)));
  return fmt::format("[{}]", fmt::join(shown, ","));
}

void ValidateList(const meta::Object& pod, const meta::Object& old, std::string_view list, meta::FieldErrors& errors) {
  const std::vector<std::string> ips = Ips(pod, list), before = Ips(old, list);
  const meta::Path path = meta::Path("status").Child(list);
  for (std::size_t i = 0; i < ips.size(); ++i) {
    if (std::find(before.begin(), before.end(), ips[i]) != before.end()) continue;
    for (std::string& complaint : CheckIp(ips[i])) {
      errors.push_back(meta::Invalid(path.Index(i).ToString(), meta::Quoted(ips[i]), std::move(complaint)));
    }
  }
  if (ips.size() < 2) return;
  const bool dual = ips.size() == 2 && IpFamilyOf(ips[0]) != IpFamilyOf(ips[1]);
  if (dual) return;
  errors.push_back(meta::Invalid(path.ToString(), ShownIps(ips), "may specify no more than one IP for each IP family"));
}

}  // namespace

void SyncPodIps(json::object& pod) {
  json::value* status = meta::FindField(pod, "status");
  if (!status || !status->is_object()) return;
  json::object& fields = status->get_object();
  const std::string ip(meta::FindString(fields, "podIP"));
  const auto ips = Objects(meta::FindField(std::as_const(fields), "podIPs"));
  const std::string first(ips.empty() ? std::string_view() : meta::FindString(ips.front(), "ip"));
  if (ip == first) return;
  if (ip.empty()) {
    fields["podIP"] = first;
  } else {
    fields["podIPs"] = json::array{json::object{{"ip", ip}}};
  }
}

meta::FieldErrors ValidateStatusIps(const meta::Object& pod, const meta::Object& old) {
  meta::FieldErrors errors;
  ValidateList(pod, old, "podIPs", errors);
  const std::vector<std::string> hosts = Ips(pod, "hostIPs");
  if (!hosts.empty() && hosts.front() != meta::FindString(pod.Root(), "status", "hostIP")) {
    errors.push_back(meta::Invalid("status.hostIPs[0].ip", meta::Quoted(hosts.front()), "must be equal to `hostIP`"));
  }
  ValidateList(pod, old, "hostIPs", errors);
  return errors;
}

}  // namespace apimesh::core_api
