#pragma once

#include <boost/json/value.hpp>

#include <string>

namespace apimesh::endpoint {

/// A document as Go's fmt prints a map[string]interface{} with %+v: some error texts show one.
std::string GoFormat(const boost::json::value& value);

}  // namespace apimesh::endpoint
