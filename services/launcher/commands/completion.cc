#include "services/launcher/commands/completion.h"

namespace apimesh::launcher {

std::string CompletionScript(const std::string& shell) {
  // zsh runs the bash function through its own compatibility layer.
  const std::string head = shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  return head +
         "_apimesh() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words\n"
         "  case ${COMP_WORDS[1]} in\n"
         "    up) words='--dir --port --bind-address --front-proxy --envoy-ext-authz --etcd-servers --detach --' ;;\n"
         "    status) words='--dir --json' ;;\n"
         "    down) words='--dir' ;;\n"
         "    logs) words='--dir --follow store core-api extensions-api authn-authz aggregator envoy launcher' ;;\n"
         "    test) words='--unit --e2e --sanitize' ;;\n"
         "    bench) words='--quick' ;;\n"
         "    completion) words='bash zsh' ;;\n"
         "    *) words='up down status logs kubectl store build test bench deps version completion' ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "}\n"
         "complete -F _apimesh apimesh ./apimesh\n";
}

}  // namespace apimesh::launcher
