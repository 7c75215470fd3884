#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

class Checks;

/// An object at a path of a document, with the list to which errors about it are added. Validation code reads like a
/// list of rules:
///   container.Require("image"); container.Names("name", meta::CheckDnsLabel);
/// Types are checked when an object is decoded, so a field of an unexpected type is treated as missing.
class Check {
 public:
  Check(const meta::json::object& object, meta::Path path, meta::FieldErrors& errors)
      : object_(&object), path_(std::move(path)), errors_(&errors) {}

  const meta::json::object& Object() const { return *object_; }
  const meta::Path& Path() const { return path_; }
  void Add(meta::FieldError error) const { errors_->push_back(std::move(error)); }
  /// Returns whether further errors are dropped. Loops whose errors show a large value end then.
  bool Full() const { return errors_->Full(); }

  std::string_view Text(std::string_view field) const { return meta::FindString(*object_, field); }
  bool Has(std::string_view field) const;
  std::optional<std::int64_t> Number(std::string_view field) const;
  bool IsTrue(std::string_view field) const;

  /// Adds an error if the text is missing. Returns true if it is present.
  bool Require(std::string_view field, std::string detail = "") const;
  /// Adds one error for each message that `rule` returns for the text of a field. A missing field is accepted.
  using Rule = meta::Complaints (*)(std::string_view);
  void Names(std::string_view field, Rule rule) const;
  /// The same for a field whose empty text is a value: it is validated whenever the field is present.
  void NamesIfPresent(std::string_view field, Rule rule) const;
  /// Require() and Names() together.
  void RequireName(std::string_view field, Rule rule) const;
  /// Adds "required" if the field is missing, and "unsupported" if its value is not one of `values`.
  void RequireOneOf(std::string_view field, const std::vector<std::string>& values) const;
  void RequireOneOf(std::string_view field, std::initializer_list<std::string_view> values) const;
  /// Adds "unsupported" if the value is not one of `values`. A missing field is accepted.
  void OneOf(std::string_view field, const std::vector<std::string>& values) const;
  void OneOf(std::string_view field, std::initializer_list<std::string_view> values) const;
  void NonNegative(std::string_view field) const;
  void Forbid(std::string_view field, std::string detail) const;

  /// Returns the child object at a field, or nullopt if there is none.
  std::optional<Check> Child(std::string_view field) const;
  /// Returns the objects of a list. `field` must outlive the result.
  Checks Each(std::string_view field) const;

  /// Adds an error about a field, with its value formatted as kube-apiserver formats it.
  void Invalid(std::string_view field, std::string detail) const;

 private:
  const meta::json::object* object_;
  meta::Path path_;
  meta::FieldErrors* errors_;
};

/// The objects of a list, for iteration. Each Check is created when the iterator reaches it, because a list may have
/// 300,000 items. Iteration ends early when the list of errors is full.
class Checks {
 public:
  /// `list` may be nullptr. `path` is the path of the list.
  Checks(const meta::json::array* list, meta::Path path, meta::FieldErrors& errors)
      : list_(list), path_(std::move(path)), errors_(&errors) {}

  class Iterator {
   public:
    Iterator(const Checks* checks, std::size_t index) : checks_(checks), index_(index) { SkipOthers(); }
    Check operator*() const;
    Iterator& operator++() { return ++index_, SkipOthers(), *this; }
    bool operator!=(const Iterator& other) const { return index_ != other.index_; }

   private:
    /// Advances to the next item that is an object.
    void SkipOthers();
    const Checks* checks_;
    std::size_t index_;
  };
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, Items()}; }
  bool empty() const { return size() == 0; }
  /// Returns the number of objects.
  std::size_t size() const;

 private:
  std::size_t Items() const { return list_ ? list_->size() : 0; }

  const meta::json::array* list_;
  meta::Path path_;
  meta::FieldErrors* errors_;
};

/// Formats a JSON value as error messages show it: strings are quoted, other values are JSON.
std::string Shown(const meta::json::value* value);

}  // namespace apimesh::core_api
