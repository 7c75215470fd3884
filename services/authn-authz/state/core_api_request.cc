#include "services/authn-authz/state/core_api_request.h"

namespace apimesh::authn_authz {

rpc::Request CoreApiRequest(std::string_view path, std::string_view query) {
  rpc::Request request;
  request.method = "GET";
  request.path = path;
  request.query = query;
  request.headers = {{"accept", "application/json"}, {"user-agent", "apimesh-authn-authz"}};
  request.user.name = "system:apiserver";
  request.user.groups = {"system:masters", "system:authenticated"};
  request.info = meta::ParseRequestInfo("GET", path, query);
  return request;
}

}  // namespace apimesh::authn_authz
