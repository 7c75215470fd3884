#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/flags/flag.h"

namespace apimesh::flags {

/// A field of an options struct that receives the value of a flag.
using Field = std::variant<bool*, int*, std::int64_t*, std::size_t*, std::string*, std::vector<std::string>*,
                           std::chrono::milliseconds*>;

/// Connects the fields of options to flags of the table. An options struct has a member `void Bind(Binder&)` with one
/// line per field: `flags.Bind("event-ttl", event_ttl)`. Type, default and help text come from the table.
class Binder {
 public:
  virtual ~Binder() = default;

  /// Throws std::logic_error if the table has no such flag, or if a field of this type cannot hold its value. A
  /// duration fits into std::chrono::milliseconds, or into a std::string that keeps the text.
  void Bind(std::string_view name, Field field);
  template <class T>
  void Bind(std::string_view name, T& field) {
    Bind(name, Field(&field));
  }

  /// Declares that the process cannot start without this flag, which must be bound already.
  virtual void Require(std::string_view /*name*/) {}
  /// Sets `given` to whether the command line has a flag of this name, or, if `name` ends with '-', with this prefix.
  virtual void BindGiven(std::string_view /*name*/, bool& /*given*/) {}

 protected:
  virtual void Add(const Flag& flag, Field field) = 0;
};

/// Sets the field to the default of the table. If the default of a number is empty, the field keeps its value.
void SetDefault(const Flag& flag, Field field);

/// Sets every field that `options.Bind` binds to the default of the table. Constructors of options call it, so that
/// defaults are written only in the table.
template <class Options>
void ApplyDefaults(Options& options) {
  class Defaults final : public Binder {
    void Add(const Flag& flag, Field field) override { SetDefault(flag, field); }
  } defaults;
  options.Bind(defaults);
}

}  // namespace apimesh::flags
