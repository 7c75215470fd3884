#pragma once

#include <any>
#include <map>
#include <typeindex>

#include "lib/flags/binder.h"

namespace apimesh::flags {

/// Options of extensions, one struct per extension, found by type. An extension (an authenticator, a filter) declares
/// its options in its own folder, and no struct has to list all of them.
class OptionSet {
 public:
  /// The options of this type, initially with their defaults. The reference stays valid as long as the set.
  template <class T>
  T& Get() {
    std::any& held = options_[typeid(T)];
    if (!held.has_value()) held = T();
    return *std::any_cast<T>(&held);
  }
  template <class T>
  const T& Get() const {
    static const T defaults;
    const auto found = options_.find(typeid(T));
    return found == options_.end() ? defaults : *std::any_cast<T>(&found->second);
  }

 private:
  std::map<std::type_index, std::any> options_;
};

/// Binds the options of type T in the set. A list of extensions can refer to this function.
template <class T>
void BindOptions(OptionSet& options, Binder& flags) {
  options.Get<T>().Bind(flags);
}

}  // namespace apimesh::flags
