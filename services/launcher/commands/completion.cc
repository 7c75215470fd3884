#include "services/launcher/commands/completion.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace apimesh::launcher {
namespace {

struct Command {
  std::string name;
  std::string words;  // what can follow it, separated by spaces
};
using Commands = std::vector<Command>;

// Words that the parser of the command line does not know: values of positional arguments, and the options of the
// commands of the script ./apimesh.
constexpr struct {
  std::string_view name, words;
} kMoreWords[] = {
    {"up", "--"},
    {"logs", "store core-api extensions-api authn-authz aggregator envoy launcher"},
    {"completion", "bash zsh fish"},
    {"test", "--unit --e2e --attacks --differential --sanitize"},
    {"bench", "--quick --growth --many --admission"},
    {"envtest", "-p"},
    {"descriptions", "--dir"},
};

/// Appends the options of a command, and the names and options of its subcommands. A word is appended only once.
void AddWords(const CLI::App& command, std::vector<std::string>& words) {
  const auto add = [&words](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  };
  for (const CLI::App* nested : command.get_subcommands({})) {
    add(nested->get_name());
    AddWords(*nested, words);
  }
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) add("--" + name);
  }
}

Commands CommandsOf(const CLI::App& app) {
  Commands commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    std::vector<std::string> words;
    AddWords(*command, words);
    for (const auto& more : kMoreWords) {
      if (more.name == command->get_name()) words.emplace_back(more.words);
    }
    commands.push_back({command->get_name(), fmt::format("{}", fmt::join(words, " "))});
  }
  return commands;
}

std::string Bash(const Commands& commands) {
  std::string cases, names;
  for (const Command& command : commands) {
    names += fmt::format("{} ", command.name);
    if (!command.words.empty()) cases += fmt::format("    {}) words='{}' ;;\n", command.name, command.words);
  }
  return fmt::format(
      "_apimesh() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words\n"
      "  case ${{COMP_WORDS[1]}} in\n"
      "{}"
      "    *) words='{}' ;;\n"
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "}}\n"
      "complete -F _apimesh apimesh ./apimesh\n",
      cases, names);
}

std::string Zsh(const Commands& commands) {
  std::string cases, names;
  for (const Command& command : commands) {
    names += fmt::format(" {}", command.name);
    if (!command.words.empty()) cases += fmt::format("    {}) compadd -- {} ;;\n", command.name, command.words);
  }
  return fmt::format(
      "#compdef apimesh ./apimesh\n"
      "_apimesh() {{\n"
      "  if (( CURRENT == 2 )); then compadd --{}; return; fi\n"
      "  case ${{words[2]}} in\n"
      "{}"
      "  esac\n"
      "}}\n"
      "# The script can be sourced, or be in a folder of $fpath.\n"
      "if [ \"$funcstack[1]\" = _apimesh ]; then _apimesh \"$@\"; else compdef _apimesh apimesh ./apimesh; fi\n",
      names, cases);
}

std::string Fish(const Commands& commands) {
  std::string lines;
  for (const Command& command : commands) {
    lines += fmt::format("complete -c apimesh -f -n __fish_use_subcommand -a {}\n", command.name);
    if (command.words.empty()) continue;
    lines +=
        fmt::format("complete -c apimesh -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name, command.words);
  }
  return lines;
}

}  // namespace

std::string CompletionScript(const std::string& shell, const CLI::App& app) {
  const Commands commands = CommandsOf(app);
  if (shell == "fish") return Fish(commands);
  return shell == "zsh" ? Zsh(commands) : Bash(commands);
}

}  // namespace apimesh::launcher
