#pragma once

#include <algorithm>
#include <string>

#include "lib/meta/errors/field_error.h"

namespace apimesh::schema {

/// The field of errors about a value as a whole, as kube-apiserver reports them.
inline constexpr char kNoField[] = "<nil>";
/// Creates an error about a value as a whole.
inline meta::FieldError GeneralError(std::string text) { return meta::Invalid(kNoField, "\"\"", std::move(text)); }

/// Collects the errors of a value, or only records that there was one. It also counts the checks that were made: if no
/// schema of a oneOf matches, kube-apiserver reports the errors of the schema with the most checks.
class Findings {
 public:
  /// With nullptr, this only records whether there was an error, and no texts are made.
  explicit Findings(meta::FieldErrors* errors) : errors_(errors) {}

  /// `make` returns the FieldError. It is called only if the texts are needed.
  template <class Make>
  void Add(Make make) {
    if (errors_) errors_->push_back(make());
    any_ = true;
  }
  /// Adds the errors and checks of another schema for the same value. Errors that were reported before are left out.
  void Merge(const meta::FieldErrors& errors, std::size_t checks) {
    for (const meta::FieldError& error : errors) {
      any_ = true;
      const auto same = [&error](const meta::FieldError& one) {
        return one.field == error.field && one.detail == error.detail && one.type == error.type;
      };
      if (errors_ && std::none_of(errors_->begin(), errors_->end(), same)) errors_->push_back(error);
    }
    checks_ += checks;
  }
  void Append(meta::FieldErrors errors) {
    any_ = any_ || !errors.empty();
    if (errors_) errors_->Append(std::move(errors));
  }
  void Count(std::size_t checks) { checks_ += checks; }

  bool Any() const { return any_; }
  std::size_t Checks() const { return checks_; }
  /// Returns whether further checks cannot change the result.
  bool Done() const { return errors_ ? errors_->Full() : any_; }
  bool WantsTexts() const { return errors_ != nullptr; }

 private:
  meta::FieldErrors* errors_;
  std::size_t checks_ = 0;
  bool any_ = false;
};

}  // namespace apimesh::schema
