#pragma once

#include <map>
#include <string>

#include <boost/json/object.hpp>

#include "lib/meta/api_error.h"
#include "lib/meta/field_error.h"

namespace apimesh::authn_authz {

/// The fields a configuration object may have; those without a shape of their own hold anything. A list's items have
/// the shape of the list.
struct Shape {
  std::map<std::string, Shape> fields;
};

/// A configuration file of this kind in any version of apiserver.config.k8s.io that `versions` names, without fields
/// that `shape` does not know.
meta::Result<boost::json::object> ParseStrictly(std::string_view text, std::string_view kind,
                                                const std::vector<std::string>& versions, const Shape& shape);

/// All complaints in one text, as the reference joins them; "" if there are none.
std::string JoinFieldErrors(const meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
