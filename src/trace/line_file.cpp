#include "trace/line_file.h"
#include "base/version.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "schedule/collective.h"
#include "trace/event.h"

namespace unisono::trace {

namespace {

using Json = nlohmann::ordered_json;

// Paths and host names are bytes: what is no UTF-8 must not throw.
std::string text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<std::string> command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string hex(std::uint64_t value) {
  char digits[2 + 16 + 1];
  std::snprintf(digits, sizeof digits, "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

}  // namespace

Result<std::unique_ptr<LineFile>> LineFile::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_APPEND, 0644);
  if (file < 0) return Error{std::strerror(errno)};
  return std::unique_ptr<LineFile>(new LineFile(file));
}

void LineFile::close() {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

void LineFile::write(std::string line) {
  if (file_ < 0) return;
  line += '\n';
  for (std::size_t at = 0; at < line.size();) {
    const auto written = ::write(file_, line.data() + at, line.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      if (problem_.empty()) problem_ = std::strerror(errno);
      return;
    }
    at += static_cast<std::size_t>(written);
  }
}

void LineFile::start(const Start& start) {
  using std::chrono::system_clock;
  const std::chrono::duration<double> now = system_clock::now().time_since_epoch();
  write(text({{"kind", "start"},
              {"format", kFormat},
              {"rank", start.rank},
              {"size", start.size},
              {"host", host_name()},
              {"pid", getpid()},
              {"command", command_line()},
              {"mpi", start.mpi},
              {"unisono", UNISONO_VERSION},
              {"collectives", kCollectiveNames},
              {"started_unix_s", now.count()}}));
}

void LineFile::modules(const Modules& modules) {
  Json list = Json::array();
  for (const Module& m : modules)
    list.push_back({{"path", m.path},
                    {"start", hex(m.start)},
                    {"end", hex(m.end)},
                    {"offset", hex(m.offset)}});
  write(text({{"kind", "modules"}, {"modules", std::move(list)}}));
}

void LineFile::communicator(const Group& group) {
  write(text({{"kind", "communicator"},
              {"id", group.id},
              {"size", group.size},
              {"ranks", group.ranks},
              {"occurrence", group.occurrence},
              {"name", group.name}}));
}

void LineFile::algorithm(int id, std::string_view spec) {
  write(text({{"kind", "algorithm"}, {"id", id}, {"spec", spec}}));
}

void LineFile::clock(const ClockOffset& clock) {
  write(text({{"kind", "clock"},
              {"at_ns", clock.at_ns},
              {"offset_ns", clock.offset_ns},
              {"error_ns", clock.error_ns}}));
}

void LineFile::one_way(std::uint64_t bytes, double seconds) {
  write(text({{"kind", "one_way"}, {"bytes", bytes}, {"seconds", seconds}}));
}

void LineFile::end(std::uint64_t events, std::uint64_t lost, std::int64_t at_ns) {
  Json line{{"kind", "end"}, {"events", events}, {"at_ns", at_ns}};
  if (lost > 0) line["lost"] = lost;
  write(text(line));
}

}  // namespace unisono::trace
