#pragma once

#include <boost/json/object.hpp>

#include <string_view>

#include "lib/meta/api_error.h"

namespace apimesh::authn_authz {

/// A configuration file, YAML or JSON, as a JSON object.
meta::Result<boost::json::object> ParseConfigFile(std::string_view text);

}  // namespace apimesh::authn_authz
