#include "lib/service/diagnostics/symbols.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>

#include "lib/base/file.h"

namespace apimesh::service {
namespace {

struct Function {
  std::uint64_t begin, size;
  std::string name;  // mangled
};

template <class T>
const T* At(const std::string& bytes, std::uint64_t offset, std::uint64_t count = 1) {
  if (offset > bytes.size() || count > (bytes.size() - offset) / sizeof(T)) return nullptr;
  return reinterpret_cast<const T*>(bytes.data() + offset);
}

std::string_view TextAt(const std::string& bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  return {bytes.data() + offset, ::strnlen(bytes.data() + offset, bytes.size() - offset)};
}

std::vector<Function> FunctionsIn(const std::string& bytes, const Elf64_Shdr& table, const Elf64_Shdr& names) {
  std::vector<Function> functions;
  const std::uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  const Elf64_Sym* symbols = At<Elf64_Sym>(bytes, table.sh_offset, count);
  for (std::uint64_t i = 0; symbols != nullptr && i < count; ++i) {
    const unsigned type = ELF64_ST_TYPE(symbols[i].st_info);
    if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbols[i].st_shndx == SHN_UNDEF) continue;
    functions.push_back(
        {symbols[i].st_value, symbols[i].st_size, std::string(TextAt(bytes, names.sh_offset + symbols[i].st_name))});
  }
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return functions;
}

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 && text ? WithoutParameters(text.get()) : name;
}

}  // namespace

struct Symbols::File {
  std::vector<Function> functions;  // sorted by address; from .symtab or, without it, from .dynsym
  std::vector<Elf64_Phdr> segments;

  explicit File(const std::string& path) {
    const std::string bytes = ReadFile(path).value_or("");
    const Elf64_Ehdr* head = At<Elf64_Ehdr>(bytes, 0);
    if (head == nullptr || std::memcmp(head->e_ident, ELFMAG, SELFMAG) != 0) return;
    if (const Elf64_Phdr* all = At<Elf64_Phdr>(bytes, head->e_phoff, head->e_phnum)) {
      segments.assign(all, all + head->e_phnum);
    }
    const Elf64_Shdr* sections = At<Elf64_Shdr>(bytes, head->e_shoff, head->e_shnum);
    for (const unsigned type : {SHT_SYMTAB, SHT_DYNSYM}) {
      for (unsigned i = 0; sections != nullptr && functions.empty() && i < head->e_shnum; ++i) {
        if (sections[i].sh_type != type || sections[i].sh_link >= head->e_shnum) continue;
        functions = FunctionsIn(bytes, sections[i], sections[sections[i].sh_link]);
      }
    }
  }

  std::uint64_t AddressAt(std::uint64_t offset) const {
    for (const Elf64_Phdr& segment : segments) {
      if (segment.p_type != PT_LOAD || offset < segment.p_offset || offset - segment.p_offset >= segment.p_filesz)
        continue;
      return segment.p_vaddr + (offset - segment.p_offset);
    }
    return 0;
  }
};

Symbols::Symbols() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    Mapping mapping{};
    std::string permissions, device, inode;
    char dash = 0;
    fields >> std::hex >> mapping.begin >> dash >> mapping.end >> permissions >> mapping.offset >> device >> inode;
    fields >> std::ws;
    std::getline(fields, mapping.path);
    if (permissions.find('x') != std::string::npos) mappings_.push_back(std::move(mapping));
  }
}
Symbols::~Symbols() = default;

const Symbols::File& Symbols::FileOf(const Mapping& mapping) {
  auto& file = files_[mapping.path];
  if (!file) {
    // The link leads to the program even if its file has been replaced or deleted.
    std::error_code ignored;
    const bool program = std::filesystem::read_symlink("/proc/self/exe", ignored) == mapping.path;
    file = std::make_unique<File>(program ? "/proc/self/exe" : mapping.path);
  }
  return *file;
}

std::string Symbols::Find(std::uintptr_t address) {
  const auto mapping = std::find_if(mappings_.begin(), mappings_.end(), [address](const Mapping& one) {
    return one.begin <= address && address < one.end;
  });
  if (mapping == mappings_.end()) return fmt::format("{:#x}", address);
  if (!mapping->path.starts_with('/')) return mapping->path.empty() ? fmt::format("{:#x}", address) : mapping->path;
  const File& file = FileOf(*mapping);
  const std::uint64_t offset = address - mapping->begin + mapping->offset, in_file = file.AddressAt(offset);
  auto after = std::upper_bound(file.functions.begin(), file.functions.end(), in_file,
                                [](std::uint64_t value, const Function& function) { return value < function.begin; });
  if (after != file.functions.begin()) {
    const Function& function = *--after;
    if (function.size == 0 || in_file - function.begin < function.size) return Demangled(function.name);
  }
  return fmt::format("{}+{:#x}", mapping->path.substr(mapping->path.rfind('/') + 1), offset);
}

const std::string& Symbols::NameOf(std::uintptr_t address) {
  const auto [found, added] = known_.try_emplace(address);
  if (added) found->second = Find(address);
  return found->second;
}

std::string WithoutParameters(std::string_view name) {
  // The parameters begin at the last "(" outside of templates and other parentheses; what follows them is short.
  int depth = 0;
  for (std::size_t i = name.size(); i > 0; --i) {
    const char c = name[i - 1];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (c == '(' && depth == 0 && !name.substr(0, i - 1).ends_with("operator")) {
      const std::string_view clone = name.substr(name.rfind(')') + 1);
      if (name.substr(i - 1).starts_with("(anonymous")) return std::string(name);
      return std::string(name.substr(0, i - 1)) + (clone.starts_with(" [") ? std::string(clone) : "");
    }
  }
  return std::string(name);
}

}  // namespace apimesh::service
