// The launcher. As `apimesh` it has its own command line; as `kube-apiserver` it accepts the flags of kube-apiserver.
#include <filesystem>
#include <string>
#include <vector>

#include "services/launcher/commands/cli.h"
#include "services/launcher/mesh/kube_apiserver.h"

int main(int argc, char** argv) {
  if (std::filesystem::path(argv[0]).filename() == "kube-apiserver") {
    return apimesh::launcher::RunKubeApiserver(std::vector<std::string>(argv + 1, argv + argc),
                                               apimesh::Clock::System());
  }
  return apimesh::launcher::RunCommandLine(argc, argv, apimesh::Clock::System());
}
