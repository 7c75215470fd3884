#include "services/core-api/groups/core/service/ip_address_object.h"

#include "lib/meta/time.h"
#include "lib/meta/uuid.h"

namespace apimesh::core_api {

namespace json = meta::json;

meta::Object AddressObject(std::string_view ip, std::string_view family, const meta::Object& service, WallTime now) {
  json::object root;
  root["kind"] = "IPAddress";
  root["apiVersion"] = "networking.k8s.io/v1";
  root["metadata"] = {{"name", json::string(ip)},
                      {"uid", meta::NewUuid()},
                      {"creationTimestamp", meta::FormatTime(now)},
                      {"labels", {{kIpFamilyLabel, json::string(family)}, {kManagedByLabel, kIpAllocator}}}};
  root["spec"] = {{"parentRef",
                   {{"resource", "services"},
                    {"namespace", json::string(service.Namespace())},
                    {"name", json::string(service.Name())}}}};
  return meta::Object(std::move(root));
}

}  // namespace apimesh::core_api
