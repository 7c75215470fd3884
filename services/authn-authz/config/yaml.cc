#include "services/authn-authz/config/yaml.h"

#include "lib/codec/codec.h"

namespace apimesh::authn_authz {

meta::Result<boost::json::object> ParseConfigFile(std::string_view text) {
  codec::ParseLimits limits;
  limits.depth = 64;
  ASSIGN_OR_RETURN(boost::json::value value, codec::ParseYaml(text, {}, nullptr, limits));
  if (!value.is_object()) return meta::BadRequest("the file does not hold an object");
  return std::move(value.get_object());
}

}  // namespace apimesh::authn_authz
