#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace apimesh::service {

/// Finds the names of functions in this process: in the symbol tables of the program and of its libraries, which are
/// read on demand. Not thread-safe.
class Symbols {
 public:
  Symbols();
  ~Symbols();

  /// Returns the demangled name without its parameters. If no symbol table has it, returns the name of the file and
  /// the offset there, and for an unknown address the number.
  const std::string& NameOf(std::uintptr_t address);

 private:
  struct File;
  struct Mapping {
    std::uintptr_t begin, end, offset;
    std::string path;
  };
  const File& FileOf(const Mapping& mapping);
  std::string Find(std::uintptr_t address);

  std::vector<Mapping> mappings_;  // of code, sorted by address
  std::map<std::string, std::unique_ptr<File>> files_;
  std::map<std::uintptr_t, std::string> known_;
};

/// Removes parameters and return types that only make a demangled name long: "a::F(int, b)" becomes "a::F".
std::string WithoutParameters(std::string_view name);

}  // namespace apimesh::service
