#include "services/aggregator/apiservices/server_options.h"

#include "lib/base/text/base64.h"
#include "services/aggregator/extensions/endpoint.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

std::int64_t NumberAt(const meta::Object& object, std::string_view field) {
  const json::value* found = meta::Find(object.Root(), "spec", field);
  return found && found->is_int64() ? found->get_int64() : 0;
}

/// Sets the fields that both kinds of options have.
template <class Options>
void ReadCommon(const meta::Object& object, Options& options) {
  options.group = meta::FindString(object.Root(), "spec", "group");
  options.version = meta::FindString(object.Root(), "spec", "version");
  DecodeBase64(meta::FindString(object.Root(), "spec", "caBundle"), options.ca_pem);
}

}  // namespace

Registration RegistrationOf(const meta::Object& api_service) {
  return {std::string(meta::FindString(api_service.Root(), "spec", "group")),
          std::string(meta::FindString(api_service.Root(), "spec", "version")),
          static_cast<int>(NumberAt(api_service, "groupPriorityMinimum")),
          static_cast<int>(NumberAt(api_service, "versionPriority"))};
}

ExternalOptions ExternalOptionsOf(const meta::Object& api_service) {
  const json::object& service = meta::Find(api_service.Root(), "spec", "service")->get_object();
  const json::value* port = meta::FindField(service, "port");
  const json::value* insecure = meta::Find(api_service.Root(), "spec", "insecureSkipTLSVerify");
  ExternalOptions options;
  ReadCommon(api_service, options);
  options.service = {std::string(meta::FindString(service, "namespace")),
                     std::string(meta::FindString(service, "name")),
                     port && port->is_int64() ? port->get_int64() : 443};
  options.insecure_skip_verify = insecure && *insecure == true;
  return options;
}

ExtensionOptions ExtensionOptionsOf(const meta::Object& api_service) {
  ExtensionOptions options;
  ReadCommon(api_service, options);
  options.endpoint = EndpointOf(api_service);
  return options;
}

}  // namespace apimesh::aggregator
