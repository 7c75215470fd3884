#pragma once

#include <string_view>

#include <boost/json/object.hpp>

#include "lib/meta/errors/api_error.h"

namespace apimesh::authn_authz {

/// Parses a configuration file (YAML or JSON) to a JSON object.
meta::Result<boost::json::object> ParseConfigFile(std::string_view text);

}  // namespace apimesh::authn_authz
