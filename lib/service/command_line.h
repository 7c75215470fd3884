#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/flags/binder.h"

namespace apimesh::service {

/// The command line of one service: `--name=value`, `--help` by sections, and `--config FILE`, a YAML file of flag
/// names and values. The caller binds the options and then calls Parse() once.
class CommandLine final : public flags::Binder {
 public:
  /// `about` is the first text of --help.
  CommandLine(std::string name, std::string about) : name_(std::move(name)), about_(std::move(about)) {}

  void Require(std::string_view name) override { required_.emplace_back(name); }
  void BindGiven(std::string_view name, bool& given) override { given_.emplace_back(name, &given); }

  /// Sets the bound fields. If a value is returned, the process must end with it as exit code: 0 after --help, 1 after
  /// an error, which has been printed.
  std::optional<int> Parse(int argc, char** argv);

 private:
  void Add(const flags::Flag& flag, flags::Field field) override { bound_.emplace_back(&flag, field); }

  const std::string name_, about_;
  std::vector<std::pair<const flags::Flag*, flags::Field>> bound_;
  std::vector<std::string> required_;
  std::vector<std::pair<std::string, bool*>> given_;
};

}  // namespace apimesh::service
