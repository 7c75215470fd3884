#pragma once

#include <string>

#include <boost/json/value.hpp>

namespace apimesh::endpoint {

/// Formats a document as Go's fmt formats a map[string]interface{} with %+v. Some error messages contain such a value.
std::string GoFormat(const boost::json::value& value);

}  // namespace apimesh::endpoint
