#pragma once

#include <boost/json/object.hpp>

#include "lib/cel/check/declarations.h"
#include "lib/cel/cost/estimate.h"
#include "lib/cel/types/shape.h"

namespace apimesh::cel {

/// The shape of a value that a structural schema describes (the JSON form of an OpenAPI v3 schema), or null where
/// expressions can't see the value. `root`: the schema is that of a whole object, which always has apiVersion, kind,
/// metadata.name and metadata.generateName. `name` is the name of the type, from which the names of the types of fields
/// are derived.
ShapeRef ShapeOfSchema(const boost::json::object& schema, const std::string& name, bool root);

/// The types of objects that shapes contain.
class ShapeTypes : public TypeProvider {
 public:
  void Add(const ShapeRef& shape);
  TypeRef FindType(std::string_view name) const override;
  TypeRef FindField(std::string_view type, std::string_view field) const override;
  const Shape* FindShape(std::string_view name) const;

 private:
  std::map<std::string, ShapeRef, std::less<>> shapes_;
};

/// Estimates sizes of variables with shapes. kube-apiserver ignores the first part of a path where all variables have
/// the same shape, so elements of computed lists and names of types get sizes too: `self` is the shape of paths that
/// begin with no known variable. It may be null.
class ShapeSizes : public SizeEstimator {
 public:
  explicit ShapeSizes(ShapeRef self = nullptr) : self_(std::move(self)) {}
  void Add(std::string variable, ShapeRef shape) { variables_[std::move(variable)] = std::move(shape); }
  std::optional<SizeRange> EstimateSize(std::span<const std::string> path, const Type& type) const override;

 private:
  const ShapeRef self_;
  std::map<std::string, ShapeRef, std::less<>> variables_;
};

}  // namespace apimesh::cel
