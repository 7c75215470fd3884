#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lib/mesh/delegate/delegate.h"

/// Lets clients share a watch of an extension server (services/aggregator/watches), although the server knows nothing
/// of the phases of a watch: the resume positions are the resource versions of the events.
namespace apimesh::aggregator {

/// Returns the resource version after which a watch starts; nullopt if it starts with the current objects, so that it
/// cannot be shared.
std::optional<std::uint64_t> StartOf(const mesh::Request& watch);
/// How long a watch may last.
std::chrono::seconds TimeoutOf(const mesh::Request& watch);

/// Answers WATCH_PHASE_CATCH_UP and WATCH_PHASE_FINAL_BOOKMARK: the client continues from its start with the events of
/// the shared watch. `kind` is the kind of the final bookmark.
Task<> CatchUp(mesh::Request request, std::uint64_t start, std::string kind, mesh::ResponseStream& stream);

/// Adds resume positions to the events of a watch (WATCH_PHASE_FOLLOW). An error of the server and events whose
/// resource versions do not increase become an ERROR event, after which clients list again.
class FollowedWatch final : public mesh::ResponseStream {
 public:
  FollowedWatch(std::uint64_t start, mesh::ResponseStream& out) : out_(out), position_(start) {}

  Task<bool> WriteHead(int code, mesh::Headers headers) override;
  Task<bool> Write(std::vector<SharedBytes> pieces) override;
  Task<bool> WriteComplete(mesh::Response response) override;
  void OnCancel(std::function<void()> callback) override { out_.OnCancel(std::move(callback)); }
  void Abort() override { out_.Abort(); }
  /// Must be called when the server's stream has ended.
  Task<> Finish();

 private:
  Task<bool> WriteLine(std::string line);
  Task<bool> Fail(std::string status);

  mesh::ResponseStream& out_;
  std::uint64_t position_;
  int code_ = 0;
  bool ended_ = false;
  std::string rest_;  // the beginning of a line; after an error, the body of the response
};

}  // namespace apimesh::aggregator
