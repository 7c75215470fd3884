#include "lib/service/command_line.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <iterator>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "lib/base/text/duration.h"
#include "lib/codec/codec.h"
#include "lib/flags/flag_table.h"

namespace apimesh::service {
namespace {

using flags::Flag;
using flags::FlagType;

/// Reads --config: a YAML map of flag names to a value, a list of values, or a map (which becomes key=value pairs).
class YamlConfig final : public CLI::Config {
 public:
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    const std::string text((std::istreambuf_iterator<char>(input)), std::istreambuf_iterator<char>());
    const auto root = codec::ParseYamlStrings(text);
    if (!root) throw CLI::FileError(fmt::format("--config: {}", root.error().Message()), CLI::ExitCodes::FileError);
    std::vector<CLI::ConfigItem> items;
    if (root->is_string() && root->get_string().empty()) return items;
    if (!root->is_object())
      throw CLI::FileError("--config: the file must be a map of flag names", CLI::ExitCodes::FileError);
    for (const auto& entry : root->get_object()) {
      CLI::ConfigItem item;
      item.name = entry.key();
      AddValues(entry.value(), item.inputs);
      items.push_back(std::move(item));
    }
    return items;
  }

 private:
  static void AddValues(const meta::json::value& value, std::vector<std::string>& values) {
    if (value.is_array()) {
      for (const auto& item : value.get_array()) values.push_back(Text(item));
    } else if (value.is_object()) {
      for (const auto& pair : value.get_object()) values.push_back(std::string(pair.key()) + "=" + Text(pair.value()));
    } else {
      values.push_back(Text(value));
    }
  }

  static std::string Text(const meta::json::value& value) {
    if (!value.is_string())
      throw CLI::FileError("--config: the values of a flag must not be nested", CLI::ExitCodes::FileError);
    return std::string(value.get_string());
  }
};

std::string CheckDuration(const std::string& text) {
  return ParseDuration(text) ? "" : fmt::format("time: invalid duration \"{}\"", text);
}

/// Adds an option for a field of one type. --help shows the current value of the field as the default.
struct OptionMaker {
  CLI::App& app;
  const Flag& flag;
  const std::string name = fmt::format("--{}", flag.name), help = std::string(flag.help);

  CLI::Option* operator()(bool* field) const {
    return app.add_flag(name, *field, help + (*field ? " (default true)" : ""));
  }

  CLI::Option* operator()(std::string* field) const {
    CLI::Option* option = app.add_option(name, *field, help);
    const std::vector<std::string> allowed = flags::AllowedValues(flag);
    if (!allowed.empty()) option->check(CLI::IsMember(allowed));
    return field->empty() ? option : option->capture_default_str();
  }

  CLI::Option* operator()(std::vector<std::string>* field) const {
    CLI::Option* option = app.add_option(name, *field, help)->allow_extra_args(false);
    const bool split = flag.type != FlagType::kStringArray && flag.type != FlagType::kCertificateAndKey &&
                       flag.type != FlagType::kMetricLabels;
    if (split) option->delimiter(',');
    return field->empty() ? option : option->capture_default_str();
  }

  CLI::Option* operator()(std::chrono::milliseconds* field) const {
    const auto set = [field](const std::string& text) { *field = ParseDuration(text).value(); };
    return app.add_option_function<std::string>(name, set, help)
        ->check(CheckDuration)
        ->default_str(std::string(flag.default_value));
  }

  template <class Number>
  CLI::Option* operator()(Number* field) const {
    CLI::Option* option = app.add_option(name, *field, help)->capture_default_str();
    int low = 0, high = 0;
    if (const std::size_t dots = flag.allowed.find(".."); dots != flag.allowed.npos) {
      std::from_chars(flag.allowed.data(), flag.allowed.data() + dots, low);
      std::from_chars(flag.allowed.data() + dots + 2, flag.allowed.data() + flag.allowed.size(), high);
      option->check(CLI::Range(low, high));
    }
    return option;
  }
};

/// The arguments for CLI11, which would use the argument after "--flag=" as its value: the next flag would be lost,
/// possibly one that protects the server. So an empty value becomes a separate argument.
std::vector<std::string> WithEmptyValues(int argc, char** argv) {
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) {
    std::string argument = argv[i];
    const bool empty_value = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (empty_value) argument.pop_back();
    arguments.push_back(std::move(argument));
    if (empty_value) arguments.emplace_back();
  }
  return arguments;
}

bool IsGiven(const CLI::App& app, const std::string& name) {
  const std::string flag = "--" + name;
  const std::vector<const CLI::Option*> options = app.get_options();
  return std::any_of(options.begin(), options.end(), [&](const CLI::Option* option) {
    const bool same = name.ends_with('-') ? option->get_name().starts_with(flag) : option->get_name() == flag;
    return same && option->count() > 0;
  });
}

}  // namespace

std::optional<int> CommandLine::Parse(int argc, char** argv) {
  CLI::App app(about_, name_);
  app.config_formatter(std::make_shared<YamlConfig>());
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "", "YAML file of flag names and values; the command line wins");
  std::sort(bound_.begin(), bound_.end());  // the order of the table, which is that of kube-apiserver --help
  for (const auto& [flag, field] : bound_) {
    CLI::Option* option = std::visit(OptionMaker{app, *flag}, field);
    option->group(fmt::format("{} flags", flag->section));
    if (std::find(required_.begin(), required_.end(), flag->name) != required_.end()) option->required();
  }
  const std::vector<std::string> arguments = WithEmptyValues(argc, argv);
  std::vector<const char*> separated;
  for (const std::string& argument : arguments) separated.push_back(argument.c_str());
  try {
    app.parse(static_cast<int>(separated.size()), separated.data());
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
  for (const auto& [name, given] : given_) *given = IsGiven(app, name);
  return std::nullopt;
}

}  // namespace apimesh::service
