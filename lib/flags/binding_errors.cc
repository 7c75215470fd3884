#include "lib/flags/binding_errors.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/flags/flag_table.h"

namespace apimesh::flags {

std::vector<std::string> BindingRecorder::Errors(Service service) const {
  std::vector<std::string> errors;
  for (const Flag& flag : AllFlags()) {
    const auto count = std::count(bound_.begin(), bound_.end(), &flag);
    if (count == 0 && (flag.services & service)) errors.push_back(fmt::format("--{} is not bound", flag.name));
    if (count > 1) errors.push_back(fmt::format("--{} is bound twice", flag.name));
    if (count > 0 && !(flag.services & (kServices | kConsole))) {
      errors.push_back(fmt::format("--{} is bound, but the table says that no service reads it", flag.name));
    }
  }
  return errors;
}

}  // namespace apimesh::flags
