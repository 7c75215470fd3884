#include "lib/flags/binder.h"

#include <charconv>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/text/duration.h"
#include "lib/base/text/text.h"
#include "lib/flags/flag_table.h"

namespace apimesh::flags {
namespace {

using Strings = std::vector<std::string>;

bool Fits(FlagType type, const Field& field) {
  switch (type) {
    case FlagType::kBool: return std::holds_alternative<bool*>(field);
    case FlagType::kInt:
      return std::holds_alternative<int*>(field) || std::holds_alternative<std::int64_t*>(field) ||
             std::holds_alternative<std::size_t*>(field);
    case FlagType::kFloat: return std::holds_alternative<std::string*>(field);  // its owner parses it
    case FlagType::kDuration:
      return std::holds_alternative<std::chrono::milliseconds*>(field) || std::holds_alternative<std::string*>(field);
    case FlagType::kString:
    case FlagType::kIp:
    case FlagType::kPortRange: return std::holds_alternative<std::string*>(field);
    default: return IsList(type) && std::holds_alternative<Strings*>(field);
  }
}

struct Setter {
  const Flag& flag;

  void operator()(bool* field) const { *field = flag.default_value == "true"; }
  void operator()(std::string* field) const { *field = flag.default_value; }
  void operator()(std::chrono::milliseconds* field) const { *field = ParseDuration(flag.default_value).value(); }
  void operator()(Strings* field) const { *field = SplitList(flag.default_value); }
  template <class Number>
  void operator()(Number* field) const {
    const std::string_view text = flag.default_value;
    if (!text.empty()) std::from_chars(text.data(), text.data() + text.size(), *field);
  }
};

}  // namespace

void Binder::Bind(std::string_view name, Field field) {
  const Flag* flag = FindFlag(name);
  if (!flag) throw std::logic_error(fmt::format("--{} is bound, but the flag table does not have it", name));
  if (!Fits(flag->type, field)) {
    throw std::logic_error(fmt::format("--{} is bound to a field that cannot hold a value of its type", name));
  }
  Add(*flag, field);
}

void SetDefault(const Flag& flag, Field field) { std::visit(Setter{flag}, field); }

}  // namespace apimesh::flags
