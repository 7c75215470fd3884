#include "services/launcher/commands/completion.h"

#include <fmt/format.h>

namespace apimesh::launcher {
namespace {

struct Command {
  std::string_view name;
  std::string_view words;  // what can follow it
};

constexpr Command kCommands[] = {
    {"up", "--dir --port --bind-address --front-proxy --envoy-ext-authz --etcd-servers --detach --"},
    {"down", "--dir"},
    {"status", "--dir --json"},
    {"top", "--dir --interval --once --json"},
    {"doctor", "--dir --port --json"},
    {"backup", "--dir"},
    {"restore", "--dir"},
    {"certs", "show rotate --dir --json"},
    {"logs", "--dir --follow store core-api extensions-api authn-authz aggregator envoy launcher"},
    {"kubectl", ""},
    {"store", ""},
    {"build", ""},
    {"test", "--unit --e2e --attacks --differential --sanitize"},
    {"bench", "--quick --growth --many"},
    {"deps", ""},
    {"envtest", "-p"},
    {"descriptions", "--dir"},
    {"package", ""},
    {"pki", "--dir --server --name --owner --aggregator --mounted-at --ext-authz"},
    {"version", ""},
    {"completion", "bash zsh fish"},
};

std::string Bash() {
  std::string cases, names;
  for (const Command& command : kCommands) {
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

std::string Zsh() {
  std::string cases, names;
  for (const Command& command : kCommands) {
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

std::string Fish() {
  std::string lines;
  for (const Command& command : kCommands) {
    lines += fmt::format("complete -c apimesh -f -n __fish_use_subcommand -a {}\n", command.name);
    if (command.words.empty()) continue;
    lines +=
        fmt::format("complete -c apimesh -n '__fish_seen_subcommand_from {}' -a '{}'\n", command.name, command.words);
  }
  return lines;
}

}  // namespace

std::string CompletionScript(const std::string& shell) {
  if (shell == "fish") return Fish();
  return shell == "zsh" ? Zsh() : Bash();
}

}  // namespace apimesh::launcher
