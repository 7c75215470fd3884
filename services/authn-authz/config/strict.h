#pragma once

#include <map>
#include <string>

#include <boost/json/object.hpp>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::authn_authz {

/// The allowed fields of a configuration object. A field with an empty shape may hold anything. The items of a list
/// have the shape of the list.
struct Shape {
  std::map<std::string, Shape> fields;
};

/// Parses a configuration file of this kind, in one of the `versions` of apiserver.config.k8s.io. Fields that `shape`
/// does not contain are errors.
meta::Result<boost::json::object> ParseStrictly(std::string_view text, std::string_view kind,
                                                const std::vector<std::string>& versions, const Shape& shape);

/// Joins all errors into one text as kube-apiserver does; "" if there are none.
std::string JoinFieldErrors(const meta::FieldErrors& errors);

}  // namespace apimesh::authn_authz
