#include "services/aggregator/diagnostics/flag_values.h"

#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/base/file.h"
#include "lib/base/text/format_duration.h"
#include "lib/codec/codec.h"

namespace apimesh::aggregator {
namespace {

/// Reads the fields that the options bind to flags.
class Reader final : public flags::Binder {
 public:
  explicit Reader(FlagValues& values) : values_(values) {}

 private:
  struct ToText {
    std::string operator()(const bool* field) const { return *field ? "true" : "false"; }
    std::string operator()(const std::string* field) const { return *field; }
    std::string operator()(const std::vector<std::string>* field) const {
      return fmt::format("[{}]", fmt::join(*field, ","));
    }
    std::string operator()(const std::chrono::milliseconds* field) const { return FormatDuration(*field); }
    template <class Number>
    std::string operator()(const Number* field) const {
      return std::to_string(*field);
    }
  };
  void Add(const flags::Flag& flag, flags::Field field) override {
    values_[std::string(flag.name)] = std::visit(ToText{}, field);
  }
  FlagValues& values_;
};

}  // namespace

FlagValues ReadFlagValues(Options options) {
  FlagValues values;
  const std::string& file = options.diagnostics.flag_values_file;
  if (file.empty()) {
    Reader reader(values);
    options.Bind(reader);
    return values;
  }
  const std::optional<std::string> text = apimesh::ReadFile(file);
  if (!text) throw std::runtime_error("--flag-values-file: cannot be read: " + file);
  const auto root = codec::ParseJson(*text, {});
  if (!root || !root->is_object()) throw std::runtime_error("--flag-values-file: not a JSON object: " + file);
  for (const auto& [name, value] : root->get_object()) {
    if (!value.is_string()) throw std::runtime_error("--flag-values-file: not a text: " + std::string(name));
    values[std::string(name)] = std::string(value.get_string());
  }
  return values;
}

}  // namespace apimesh::aggregator
