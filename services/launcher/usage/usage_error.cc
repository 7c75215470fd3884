#include "services/launcher/usage/usage_error.h"

#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "services/launcher/usage/suggestions.h"

namespace apimesh::launcher {
namespace {

/// Returns the command of the line, "certs show", and its App in `app`.
std::string CommandOf(const CLI::App*& app) {
  std::string words;
  for (std::vector<CLI::App*> next; !(next = app->get_subcommands()).empty();) {
    app = next.front();
    words += " " + app->get_name();
  }
  return words;
}

std::vector<std::string> OptionsOf(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options())
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Returns the first word that the command does not know; empty if there is none.
std::string Unknown(const CLI::App& root) {
  const std::vector<std::string> words = root.remaining(true);
  return words.empty() ? "" : words.front().substr(0, words.front().find('='));
}

}  // namespace

std::string UsageError(const CLI::App* app, const CLI::Error& error) {
  const CLI::App* command = app;
  const std::string words = CommandOf(command);
  std::string what = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error)) {
    const std::string unknown = Unknown(*app);
    what = fmt::format("there is no option or argument \"{}\".", unknown);
    const std::vector<std::string> similar = SimilarNames(unknown, OptionsOf(*command));
    if (!similar.empty()) what += fmt::format(" Did you mean: {}?", fmt::join(similar, ", "));
  } else if (!command->get_subcommands({}).empty()) {
    std::vector<std::string> names;
    for (const CLI::App* one : command->get_subcommands({})) names.push_back(one->get_name());
    what = fmt::format("a command is missing: {}", fmt::join(names, ", "));
  }
  return fmt::format("apimesh{}: {}\nHelp: ./apimesh{} --help\n", words, what, words);
}

}  // namespace apimesh::launcher
