#include "services/aggregator/diagnostics/zpages.h"

#include <ctime>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/codec/codec.h"
#include "lib/meta/kubernetes_version.h"

namespace apimesh::aggregator {
namespace {

constexpr std::string_view kComponent = "apiserver";

std::string Header(std::string_view page) {
  return fmt::format(
      "\n{} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility "
      "guarantees and is for debugging purposes only.\n",
      kComponent, page);
}

std::string FormatTime(WallTime time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[64];
  return {text, std::strftime(text, sizeof text, format, &utc)};
}

mesh::Response Text(std::string text) {
  mesh::Response response;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  response.body.emplace_back(std::move(text));
  return response;
}

meta::json::object Head(std::string_view kind, const std::string& version) {
  meta::json::object head;
  head["kind"] = kind;
  head["apiVersion"] = "config.k8s.io/" + version;
  head["metadata"] = meta::json::object{{"name", kComponent}};
  return head;
}

mesh::Response Structured(meta::json::object object, std::string_view kind, const codec::PageType& type, bool pretty) {
  mesh::Response response;
  response.headers.emplace_back("content-type", fmt::format("{};g=config.k8s.io;v={};as={}",
                                                            codec::MediaTypeOf(type.format), type.version, kind));
  if (type.version == "v1alpha1") {
    std::string page(kind);
    page[0] = static_cast<char>(page[0] - 'A' + 'a');
    response.headers.emplace_back(
        "warning",
        fmt::format("299 - \"This version of the {} endpoint is deprecated. Please use a newer version.\"", page));
  }
  const meta::json::value value(std::move(object));
  if (type.format == codec::Format::kYaml) {
    response.body.emplace_back(codec::WriteYaml(value));
  } else {
    response.body.emplace_back(pretty || type.pretty ? codec::WritePrettyJson(value) : codec::WriteJson(value) + "\n");
  }
  return response;
}

std::string_view BinaryVersion() { return meta::kKubernetesVersion.substr(1); }
std::string EmulationVersion() { return fmt::format("{}.{}", meta::kKubernetesMajor, meta::kKubernetesMinor); }

}  // namespace

mesh::Response StatuszPage(std::string_view accept, bool pretty, const ProcessStatus& status, WallTime now) {
  const auto type = codec::NegotiatePage(accept, "Statusz");
  if (!type) return mesh::Response::Error(type.error());
  const auto up =
      std::max(std::chrono::seconds(0), std::chrono::duration_cast<std::chrono::seconds>(now - status.started)).count();
  if (type->text) {
    return Text(
        fmt::format("{}\nStarted: {}\nUp: {} hr {:02} min {:02} sec\nGo version: none\nBinary version: {}\n"
                    "Emulation version: {}\nPaths: {}\n",
                    Header("statusz"), FormatTime(status.started, "%a %b %e %H:%M:%S UTC %Y"), up / 3600, up / 60 % 60,
                    up % 60, BinaryVersion(), EmulationVersion(), fmt::join(status.paths, " ")));
  }
  meta::json::object object = Head("Statusz", type->version);
  object["startTime"] = FormatTime(status.started, "%Y-%m-%dT%H:%M:%SZ");
  object["uptimeSeconds"] = up;
  object["goVersion"] = "";
  object["binaryVersion"] = BinaryVersion();
  object["emulationVersion"] = EmulationVersion();
  meta::json::array& paths = object["paths"].emplace_array();
  for (const std::string& path : status.paths) paths.emplace_back(path);
  return Structured(std::move(object), "Statusz", *type, pretty);
}

mesh::Response FlagzPage(std::string_view accept, bool pretty, const FlagValues& flags) {
  const auto type = codec::NegotiatePage(accept, "Flagz");
  if (!type) return mesh::Response::Error(type.error());
  if (type->text) {
    std::string text = Header("flagz");
    for (const auto& [name, value] : flags) text += fmt::format("{}={}\n", name, value);
    return Text(std::move(text));
  }
  meta::json::object object = Head("Flagz", type->version);
  meta::json::object& values = object["flags"].emplace_object();
  for (const auto& [name, value] : flags) values[name] = value;
  return Structured(std::move(object), "Flagz", *type, pretty);
}

}  // namespace apimesh::aggregator
