#pragma once

#include <string>

namespace apimesh::launcher {

/// Whether GET `path` at https://host:port answers 200 within about a second. The certificate is not checked: this asks
/// whether our own child is up, and sends nothing.
bool HttpsAnswers200(const std::string& host, int port, const std::string& path);

/// A port that is free right now on 127.0.0.1.
int FreePort();

}  // namespace apimesh::launcher
