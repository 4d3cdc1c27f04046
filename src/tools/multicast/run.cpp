// Messages from one member to the others, or from each in turn; what they took, and what became of
// the packets.
#include <fmt/core.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <ctime>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include "base/size.h"
#include "multicast/udp_socket.h"
#include "tools/multicast/lossy_socket.h"
#include "tools/multicast/meeting.h"
#include "tools/multicast/options.h"

namespace unisono::multicast {

namespace {

Time clock_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Time{now.tv_sec} * kSecond + now.tv_nsec;
}

/// Bytes that tell messages and places apart: each message begins elsewhere in one text.
constexpr std::size_t kBeginnings = 251;
std::vector<std::byte> text_of(std::size_t bytes) {
  std::vector<std::byte> text(bytes + kBeginnings);
  std::mt19937 random(7);
  for (std::byte& byte : text) byte = static_cast<std::byte>(random());
  return text;
}

/// Of a member, for the first one to print.
struct Report {
  std::uint32_t came = 0, wrong = 0, failed = 0;
  std::int32_t silent = -1;
  std::uint64_t lost = 0;  // by --loss
  Counters counters;
};

std::size_t bytes_of(const std::string& size, const char* option) {
  const auto bytes = parse_size(size);
  if (!bytes) throw std::runtime_error(std::string(option) + " " + size + " is no size");
  return static_cast<std::size_t>(*bytes);
}

class Run {
 public:
  explicit Run(const RunOptions& options);
  int all();

 private:
  bool one(std::uint32_t message);
  void wait(Time deadline);
  void befall();
  void print(const std::vector<Report>& reports) const;

  const RunOptions& options_;
  Meeting meeting_;
  std::unique_ptr<UdpSocket> udp_;
  std::unique_ptr<LossySocket> socket_;
  std::unique_ptr<Group> group_;
  std::vector<std::byte> text_, data_;
  std::vector<double> seconds_;  // of messages that this member sent
  Report report_;
  Time killed_at_ = kNever;
};

Run::Run(const RunOptions& options)
    : options_(options), meeting_(options.where.hosts, options.me, options.where.port, 30) {
  const Where& where = options.where;
  UdpSettings settings;
  settings.interface =
      where.interface.empty() ? where.hosts[static_cast<std::size_t>(options.me)] : where.interface;
  settings.group_address = where.group_address;
  settings.group_port = static_cast<std::uint16_t>(where.port);
  settings.own_port = static_cast<std::uint16_t>(where.port + 1);
  settings.rate = options.rate;
  auto udp = UdpSocket::open(settings);
  if (!udp) throw std::runtime_error(udp.error());
  udp_ = std::move(*udp);
  const Member myself = udp_->myself();
  const auto all = meeting_.exchange(std::as_bytes(std::span(&myself, 1)));
  Options group;
  group.members.resize(where.hosts.size());
  std::memcpy(group.members.data(), all.data(), all.size());
  if (const std::string wrong = udp_->meet(group.members); !wrong.empty())
    throw std::runtime_error(wrong);
  group.me = options.me;
  group.family = options.family == "ack" ? Family::ack : Family::nack;
  group.fan_out = options.fan_out;
  group.group = where.group;
  group.epoch = where.epoch;
  group.secret = secret_of(where.secret);
  group.rate = options.rate;
  group.round_trip = static_cast<Time>(options.round_trip_ms * kMillisecond);
  group.silence_limit = static_cast<Time>(options.limit_seconds * kSecond);
  group.copied_bytes = bytes_of(options.copied, "--copied");
  group.seed = options.seed;
  socket_ = std::make_unique<LossySocket>(*udp_, options.loss,
                                          options.seed * 100 + static_cast<unsigned>(options.me));
  auto opened = Group::open(group, *socket_);
  if (!opened) throw std::runtime_error(opened.error());
  group_ = std::move(*opened);
  data_.resize(bytes_of(options.size, "--size"));
  text_ = text_of(data_.size());
}

void Run::wait(Time deadline) {
  const Time left = std::clamp<Time>(deadline - clock_now(), 0, kSecond / 10);
  const auto descriptors = socket_->descriptors();
  pollfd sockets[] = {{descriptors[0], POLLIN, 0}, {descriptors[1], POLLIN, 0}};
  const timespec patience{left / kSecond, left % kSecond};
  ::ppoll(sockets, 2, &patience, nullptr);
}

void Run::befall() {
  if (clock_now() >= killed_at_) ::kill(::getpid(), SIGKILL);
}

/// False: it will not work any more.
bool Run::one(std::uint32_t message) {
  const int members = static_cast<int>(options_.where.hosts.size());
  const int root = options_.root < 0 ? static_cast<int>(message - 1) % members : options_.root;
  const bool sends = root == options_.me;
  const std::byte* text = text_.data() + message % kBeginnings;
  const Time begun = clock_now();
  const char* wrong = sends ? group_->start_send(message, text, data_.size())
                            : group_->start_receive(message, root, data_.data(), data_.size());
  if (wrong != nullptr) throw std::runtime_error(wrong);
  for (;;) {
    befall();
    const Progress progress = group_->progress(clock_now());
    for (const Completion& completion : progress.completed) {
      if (completion.message != message && completion.outcome == Outcome::done) continue;
      if (completion.outcome != Outcome::done) {
        ++report_.failed;
        report_.silent = completion.member;
        return false;
      }
      if (sends) seconds_.push_back(static_cast<double>(clock_now() - begun) / kSecond);
      ++report_.came;
      if (!sends && !std::equal(data_.begin(), data_.end(), text)) ++report_.wrong;
      return true;
    }
    if (!progress.moved) wait(progress.deadline);
  }
}

int Run::all() {
  // Nobody begins before all have joined, and the switch knows it.
  ::usleep(200'000);
  std::byte ready{};
  meeting_.exchange({&ready, 1});
  if (options_.killed.member == options_.me)
    killed_at_ = clock_now() + static_cast<Time>(options_.killed.seconds * kSecond);
  if (options_.late.member == options_.me)
    ::usleep(static_cast<useconds_t>(options_.late.seconds * 1e6));
  bool works = true;
  for (int message = 1; works && message <= options_.messages; ++message)
    works = one(static_cast<std::uint32_t>(message));
  // Others may still need something of this member.
  const Time until = clock_now() + kSecond;
  while (works && (!group_->is_quiet() || clock_now() < until - kSecond / 2) && clock_now() < until)
    wait(group_->progress(clock_now()).deadline);
  report_.counters = group_->counters();
  report_.lost = socket_->lost();
  const auto all = meeting_.gather(std::as_bytes(std::span(&report_, 1)));
  if (options_.me != 0) return works ? 0 : 1;
  std::vector<Report> reports(options_.where.hosts.size());
  std::memcpy(reports.data(), all.data(), all.size());
  print(reports);
  const bool well = std::all_of(reports.begin(), reports.end(), [&](const Report& report) {
    return report.came == static_cast<std::uint32_t>(options_.messages) && report.wrong == 0;
  });
  return well ? 0 : 1;
}

void Run::print(const std::vector<Report>& reports) const {
  fmt::print(
      "{} messages of {} to {} members, {}, rate {:g}, loss {:g}; a packet carries {}, {} may be "
      "on their way{}\n",
      options_.messages, options_.size, reports.size() - 1, options_.family, options_.rate,
      options_.loss, group_->payload_bytes(), group_->credit_packets(),
      udp_->segments() ? ", cut by the kernel" : "");
  for (std::size_t member = 0; member < reports.size(); ++member) {
    const Report& one = reports[member];
    if (one.came == static_cast<std::uint32_t>(options_.messages) && one.wrong == 0) continue;
    fmt::print("member {} ({}): {} messages came, {} of them wrong{}\n", member,
               options_.where.hosts[member], one.came, one.wrong,
               one.failed > 0 ? fmt::format("; member {} was silent", one.silent) : "");
  }
  if (!seconds_.empty()) {
    std::vector<double> sorted = seconds_;
    std::sort(sorted.begin(), sorted.end());
    const double wire = static_cast<double>(data_.size()) * 8 / options_.rate;
    const double sum = std::accumulate(sorted.begin(), sorted.end(), 0.0);
    fmt::print(
        "ms: least {:.3f}, median {:.3f}, most {:.3f}; median is {:.4f} of size / rate; mean "
        "{:.3f}\n",
        1e3 * sorted.front(), 1e3 * sorted[sorted.size() / 2], 1e3 * sorted.back(),
        wire > 0 ? sorted[sorted.size() / 2] / wire : 0.0,
        1e3 * sum / static_cast<double>(sorted.size()));
  }
  const auto line = [&](const char* name, std::uint64_t Counters::*counter) {
    std::uint64_t total = 0, most = 0;
    for (const Report& one : reports) {
      total += one.counters.*counter;
      most = std::max(most, one.counters.*counter);
    }
    if (total > 0)
      fmt::print("{:16} {:10} in all, {:10} at most at one member\n", name, total, most);
  };
  line("data sent", &Counters::data_sent);
  line("repairs to all", &Counters::repairs_to_all);
  line("repairs to one", &Counters::repairs_to_one);
  line("acks sent", &Counters::acks_sent);
  line("acks received", &Counters::acks_received);
  line("nacks sent", &Counters::nacks_sent);
  line("nacks received", &Counters::nacks_received);
  line("nacks forwarded", &Counters::nacks_forwarded);
  line("polls sent", &Counters::polls_sent);
  line("slowed down", &Counters::slowed_down);
  line("joined again", &Counters::joined_again);
  line("kept early", &Counters::kept_early);
  line("early, dropped", &Counters::early);
  line("duplicates", &Counters::duplicates);
  line("malformed", &Counters::malformed);
  line("foreign", &Counters::foreign);
  line("forged", &Counters::forged);
  line("replayed", &Counters::replayed);
  line("senseless", &Counters::senseless);
  std::uint64_t lost = 0;
  for (const Report& one : reports) lost += one.lost;
  if (lost > 0) fmt::print("{:16} {:10} in all, by --loss\n", "lost", lost);
}

}  // namespace

std::vector<std::byte> secret_of(const std::string& hex) {
  std::vector<std::byte> secret;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    std::size_t read = 0;
    int value = -1;
    try {
      value = std::stoi(hex.substr(i, 2), &read, 16);
    } catch (const std::logic_error&) {
      read = 0;
    }
    if (read != 2) break;
    secret.push_back(static_cast<std::byte>(value));
  }
  if (secret.size() * 2 != hex.size() || (secret.size() != 16 && secret.size() != 32))
    throw std::runtime_error("--secret: give 32 or 64 hexadecimal digits");
  return secret;
}

int run(const RunOptions& options) { return Run(options).all(); }

}  // namespace unisono::multicast
