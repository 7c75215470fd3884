#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/field_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// An object at a place in a document, and where complaints about it go. Validation reads like a list of rules:
///   container.Require("image"); container.Names("name", meta::CheckDnsLabel);
/// Types were checked when the object was decoded, so a field of another type is treated as missing.
class Check {
 public:
  Check(const meta::json::object& object, meta::Path path, meta::FieldErrors& errors)
      : object_(&object), path_(std::move(path)), errors_(&errors) {}

  const meta::json::object& Object() const { return *object_; }
  const meta::Path& Path() const { return path_; }
  void Add(meta::FieldError error) const { errors_->push_back(std::move(error)); }

  std::string_view Text(std::string_view field) const { return meta::FindString(*object_, field); }
  bool Has(std::string_view field) const;
  std::optional<std::int64_t> Number(std::string_view field) const;
  bool IsTrue(std::string_view field) const;

  /// Complains if the text is missing; true if it is there.
  bool Require(std::string_view field, std::string detail = "") const;
  /// One complaint for each that `rule` has about the text of a field that is there.
  using Rule = meta::Complaints (*)(std::string_view);
  void Names(std::string_view field, Rule rule) const;
  /// Require and Names.
  void RequireName(std::string_view field, Rule rule) const;
  /// Missing: required; not among `values`: unsupported.
  void RequireOneOf(std::string_view field, const std::vector<std::string>& values) const;
  /// Not among `values`: unsupported. A missing field is fine.
  void OneOf(std::string_view field, const std::vector<std::string>& values) const;
  void NonNegative(std::string_view field) const;
  void Forbid(std::string_view field, std::string detail) const;

  /// The child object at a field; nullopt if there is none.
  std::optional<Check> Child(std::string_view field) const;
  /// The objects of a list.
  std::vector<Check> Each(std::string_view field) const;

  /// A complaint about a field, with its value shown as the reference shows it.
  void Invalid(std::string_view field, std::string detail) const;

 private:
  const meta::json::object* object_;
  meta::Path path_;
  meta::FieldErrors* errors_;
};

/// A JSON value as error texts show it: strings quoted, the rest as JSON.
std::string Shown(const meta::json::value* value);

}  // namespace apimesh::core_api
