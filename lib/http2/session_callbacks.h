#pragma once

// Only for session.cc and session_callbacks.cc. All callbacks of nghttp2 are defined here.

#include <array>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "lib/http2/session.h"

namespace apimesh::http2 {

/// Header fields in nghttp2's format. They refer to the given headers. Up to 16 fields need no allocation.
class HeaderFields {
 public:
  template <class HeaderList>
  explicit HeaderFields(const HeaderList& headers) : size_(headers.size()) {
    if (size_ > few_.size()) many_.resize(size_);
    nghttp2_nv* field = Data();
    for (const auto& [name, value] : headers) *field++ = Field(name, value);
  }

  const nghttp2_nv* data() const { return size_ > few_.size() ? many_.data() : few_.data(); }
  std::size_t size() const { return size_; }

 private:
  nghttp2_nv* Data() { return size_ > few_.size() ? many_.data() : few_.data(); }
  static nghttp2_nv Field(std::string_view name, std::string_view value) {
    return {reinterpret_cast<std::uint8_t*>(const_cast<char*>(name.data())),
            reinterpret_cast<std::uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
            NGHTTP2_NV_FLAG_NONE};
  }

  const std::size_t size_;
  std::array<nghttp2_nv, 16> few_;
  std::vector<nghttp2_nv> many_;
};

/// The events of nghttp2. Each callback has a session as its user data.
struct Session::Callbacks {
  static nghttp2_session* NewSession(Session& self);
  static nghttp2_data_provider BodyOf(Stream& stream) { return {.source = {.ptr = &stream}, .read_callback = &Read}; }

 private:
  static Session& From(void* user_data) { return *static_cast<Session*>(user_data); }

  // ---- input
  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* head, void* user_data);
  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data);
  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t flags, void* user_data);
  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user_data);
  static int OnData(nghttp2_session* session, std::uint8_t flags, std::int32_t id, const std::uint8_t* data,
                    std::size_t size, void* user_data);
  static int OnStreamClose(nghttp2_session*, std::int32_t id, std::uint32_t error_code, void* user_data);

  // ---- output
  static ssize_t ReadLength(nghttp2_session*, std::uint8_t type, std::int32_t id, std::int32_t connection_window,
                            std::int32_t stream_window, std::uint32_t frame_bytes, void* user_data);
  static ssize_t Read(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t length,
                      std::uint32_t* flags, nghttp2_data_source* source, void* user_data);
  static int SendData(nghttp2_session*, nghttp2_frame* frame, const std::uint8_t* head, std::size_t length,
                      nghttp2_data_source* source, void* user_data);
  static void TakeQueued(Stream& stream, std::size_t length, OutputQueue& output);
};

}  // namespace apimesh::http2
