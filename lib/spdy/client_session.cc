#include "lib/spdy/client_session.h"

#include <algorithm>

namespace apimesh::spdy {
namespace {

constexpr std::size_t kDataBytes = 32 << 10;  // of one data frame
constexpr std::uint32_t kMaxPing = 0x7fffffff;

}  // namespace

std::uint32_t ClientSession::Open(const Headers& headers) {
  const std::uint32_t stream = next_stream_;
  next_stream_ += 2;
  streams_.emplace(stream, Stream());
  AppendSynStream(output_, stream, compressor_.Compress(headers));
  return stream;
}

void ClientSession::Send(std::uint32_t stream, std::string_view data) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || !found->second.sends) return;
  while (!data.empty()) {
    AppendData(output_, stream, data.substr(0, kDataBytes), false);
    data.remove_prefix(std::min(kDataBytes, data.size()));
  }
}

void ClientSession::End(std::uint32_t stream) {
  const auto found = streams_.find(stream);
  if (found == streams_.end() || !std::exchange(found->second.sends, false)) return;
  AppendData(output_, stream, {}, true);
}

void ClientSession::Close() {
  for (auto& [id, stream] : streams_) {
    if (stream.sends) AppendRstStream(output_, id, kCancel);
    stream.sends = stream.receives = false;
  }
  AppendGoAway(output_, 0);
}

void ClientSession::Ping() {
  if (std::exchange(ping_pending_, true)) return;
  AppendPing(output_, next_ping_);
}

std::string ClientSession::TakeOutput() {
  replies_ = 0;
  return std::exchange(output_, {});
}

void ClientSession::CountReply(std::size_t size) {
  replies_ += size;
  if (replies_ > limits_.reply_bytes) error_ = "the server asks for replies and does not read them";
}

void ClientSession::OnPing(std::uint32_t id, std::optional<Event>& event) {
  if (id % 2 == 0) {  // a ping of the server
    AppendPing(output_, id);
    CountReply(12);
  } else if (ping_pending_ && id == next_ping_) {
    ping_pending_ = false;
    next_ping_ = next_ping_ == kMaxPing ? 1 : next_ping_ + 2;
    event = Event{Event::Kind::kPong};
  }
}

std::optional<Event> ClientSession::OnStreamFrame(const Frame& frame) {
  const auto found = streams_.find(frame.stream);
  if (found == streams_.end()) return std::nullopt;  // for example, of a stream that was refused
  Stream& stream = found->second;
  const bool reset = frame.control == Type::kRstStream;
  if (reset) stream.sends = false;
  if (!stream.receives) return std::nullopt;
  std::optional<Event> event;
  if (frame.control == Type::kSynReply && !std::exchange(stream.opened, true)) {
    event = Event{Event::Kind::kOpened, frame.stream};
  } else if (!frame.data.empty() && stream.opened) {
    event = Event{Event::Kind::kData, frame.stream, frame.data};
  }
  if (reset || frame.fin) {
    stream.receives = false;
    next_ = Event{Event::Kind::kEnded, frame.stream, {}, reset};
    if (!event) event = std::exchange(next_, std::nullopt);
  }
  return event;
}

std::optional<Event> ClientSession::Next(std::string_view& input) {
  if (next_) return std::exchange(next_, std::nullopt);
  for (;;) {
    if (!error_.empty()) return std::nullopt;
    const std::optional<Frame> frame = reader_.Next(input);
    if (!frame) return std::nullopt;
    std::optional<Event> event;
    if (frame->control == Type::kPing) {
      OnPing(frame->stream, event);
    } else if (frame->control == Type::kGoAway) {
      event = Event{Event::Kind::kGoAway};
    } else if (frame->control == Type::kSynStream) {
      AppendRstStream(output_, frame->stream, kRefusedStream);
      CountReply(16);
    } else {
      event = OnStreamFrame(*frame);
    }
    if (event) return event;
  }
}

}  // namespace apimesh::spdy
