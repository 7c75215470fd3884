#pragma once

#include <string>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::flags {

/// Records which flags are bound.
class BindingRecorder final : public Binder {
 public:
  /// The errors in the bindings of `service`: flags that the table assigns to it but that it does not bind, flags that
  /// it binds although the table assigns them to no service, and flags that it binds twice.
  std::vector<std::string> Errors(Service service) const;

 private:
  void Add(const Flag& flag, Field) override { bound_.push_back(&flag); }

  std::vector<const Flag*> bound_;
};

/// For the unit test of a service. `Options` is the struct with all its options.
template <class Options>
std::vector<std::string> BindingErrors(Service service) {
  Options options;
  BindingRecorder recorder;
  options.Bind(recorder);
  return recorder.Errors(service);
}

}  // namespace apimesh::flags
