#include "services/core-api/groups/core/service/proxy.h"

#include <charconv>
#include <random>

#include <fmt/format.h>

#include "lib/meta/names.h"
#include "services/core-api/connect/proxy.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

struct Candidate {
  std::string ip, pod;
  std::int64_t port = 0;
};

/// Returns the addresses of pods in this namespace that have the named port.
std::vector<Candidate> CandidatesOf(const meta::Object& endpoints, std::string_view ns, std::string_view port) {
  std::vector<Candidate> candidates;
  for (const json::object& subset : Objects(meta::FindField(endpoints.Root(), "subsets"))) {
    for (const json::object& one : Objects(meta::FindField(subset, "ports"))) {
      const json::value* number = meta::FindField(one, "port");
      if (meta::FindString(one, "name") != port || !number || !number->is_int64()) continue;
      for (const json::object& address : Objects(meta::FindField(subset, "addresses"))) {
        if (meta::FindString(address, "targetRef", "namespace") != ns) continue;
        candidates.push_back({std::string(meta::FindString(address, "ip")),
                              std::string(meta::FindString(address, "targetRef", "name")), number->get_int64()});
      }
    }
  }
  return candidates;
}

bool HasIp(const meta::Object& pod, std::string_view ip) {
  for (const json::object& one : Objects(meta::Find(pod.Root(), "status", "podIPs"))) {
    if (meta::FindString(one, "ip") == ip) return true;
  }
  return false;
}

class ServiceProxy final : public ProxyConnector {
 public:
  ServiceProxy(ReadObject read, std::shared_ptr<http::Client> client)
      : read_(std::move(read)), client_(std::move(client)) {}

 protected:
  Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext ctx, std::string name) override {
    std::optional<ProxiedName> wanted = ParseProxiedName(name);
    if (!wanted) co_return meta::BadRequest(fmt::format("invalid service request {}", meta::Quoted(name)));
    const std::string base = fmt::format("/api/v1/namespaces/{}", ctx.Info().ns);
    CO_RETURN_IF_ERROR(co_await NamePort(base, &*wanted));
    ASSIGN_OR_CO_RETURN(const meta::Object endpoints,
                        co_await read_(fmt::format("{}/endpoints/{}", base, wanted->name)));
    const auto none = [](std::string_view what) {
      return meta::ServiceUnavailable(fmt::format("no endpoints available for service {}", meta::Quoted(what)), 0);
    };
    if (Objects(meta::FindField(endpoints.Root(), "subsets")).empty()) co_return none(wanted->name);
    std::vector<Candidate> candidates = CandidatesOf(endpoints, ctx.Info().ns, wanted->port);
    static thread_local std::minstd_rand random{std::random_device{}()};
    std::shuffle(candidates.begin(), candidates.end(), random);
    for (const Candidate& candidate :
         candidates) {  // only addresses that pods really have: endpoints are written by users
      // A name like "x/proxy/y" would read a document that a pod has written.
      if (candidate.pod.empty() || !meta::CheckPathSegment(candidate.pod).empty()) continue;
      const meta::Result<meta::Object> pod = co_await read_(fmt::format("{}/pods/{}", base, candidate.pod));
      if (!pod || !HasIp(*pod, candidate.ip)) continue;
      if (!IsProxyable(candidate.ip)) co_return meta::BadRequest("address not allowed");
      co_return ProxyTarget{fmt::format("{}://{}", wanted->scheme.empty() ? "http" : wanted->scheme,
                                        HostPort(candidate.ip, std::to_string(candidate.port))),
                            client_};
    }
    co_return none(name);
  }

 private:
  /// Replaces a port number by the name that the service gives to this port.
  Task<meta::Result<>> NamePort(std::string base, ProxiedName* wanted) {
    std::int64_t number = 0;
    const char* const end = wanted->port.data() + wanted->port.size();
    const auto parsed = std::from_chars(wanted->port.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) co_return meta::Result<>();
    ASSIGN_OR_CO_RETURN(const meta::Object service, co_await read_(fmt::format("{}/services/{}", base, wanted->name)));
    for (const json::object& port : Objects(meta::Find(service.Root(), "spec", "ports"))) {
      const json::value* one = meta::FindField(port, "port");
      if (!one || *one != number) continue;
      wanted->port = meta::FindString(port, "name");
      co_return meta::Result<>();
    }
    co_return meta::ServiceUnavailable(
        fmt::format("no service port {} found for service {}", number, meta::Quoted(wanted->name)), 0);
  }

  const ReadObject read_;
  const std::shared_ptr<http::Client> client_;
};

}  // namespace

std::shared_ptr<registry::Connector> ServiceProxyConnector(ReadObject read, std::shared_ptr<http::Client> client) {
  return std::make_shared<ServiceProxy>(std::move(read), std::move(client));
}

}  // namespace apimesh::core_api
