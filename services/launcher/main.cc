// The launcher. As `apimesh` it is a command line; as `kube-apiserver` it takes that program's flags.
#include <filesystem>
#include <string>
#include <vector>

#include "services/launcher/commands/cli.h"
#include "services/launcher/mesh/kube_apiserver.h"

int main(int argc, char** argv) {
  if (std::filesystem::path(argv[0]).filename() == "kube-apiserver") {
    return apimesh::launcher::RunKubeApiserver(std::vector<std::string>(argv + 1, argv + argc));
  }
  return apimesh::launcher::RunCommandLine(argc, argv);
}
