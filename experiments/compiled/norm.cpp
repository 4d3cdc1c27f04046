// The same messages as unisono-multicast, by the reference implementation of NORM (RFC 5740;
// Debian: libnorm-dev). Started on every host; node i + 1 is member i, and the first sends. A
// message is over when all have acknowledged a watermark behind it.
//
//   unisono-norm MEMBER MEMBERS [--interface eth0] [--messages 10] [--bytes 1048576] [--rate 1e8]
//                [--loss 0] [--grtt 0.02] [--parity 0] [--seconds 60]
#include <normApi.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <numeric>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kGroup = "239.255.77.2";
constexpr UINT16 kPort = 7710;
constexpr UINT16 kSegment = 1424;  // with NORM's headers a full frame
constexpr UINT16 kBlock = 64;
constexpr UINT32 kMemory = 64U << 20U;

struct Options {
  int me = 0, members = 0, messages = 10;
  std::string interface = "eth0";
  std::size_t bytes = 1U << 20U;
  double rate = 1e8, loss = 0, grtt = 0.02, seconds = 60;
  int parity = 0;
};

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "unisono-norm: %s\n", what);
  std::exit(2);
}

Options options_of(int argc, char** argv) {
  Options options;
  if (argc < 3 || argc % 2 == 0) fail("give MEMBER, MEMBERS, and pairs of options and values");
  options.me = std::atoi(argv[1]);
  options.members = std::atoi(argv[2]);
  if (options.members < 2 || options.me < 0 || options.me >= options.members)
    fail("members are 0 up to their number");
  std::map<std::string, double*> numbers = {{"--rate", &options.rate},
                                            {"--loss", &options.loss},
                                            {"--grtt", &options.grtt},
                                            {"--seconds", &options.seconds}};
  for (int i = 3; i < argc; i += 2) {
    const std::string name = argv[i];
    const double value = std::atof(argv[i + 1]);
    if (name == "--interface")
      options.interface = argv[i + 1];
    else if (name == "--messages")
      options.messages = static_cast<int>(value);
    else if (name == "--bytes")
      options.bytes = static_cast<std::size_t>(value);
    else if (name == "--parity")
      options.parity = static_cast<int>(value);
    else if (numbers.count(name) != 0)
      *numbers[name] = value;
    else
      fail(("there is no option " + name).c_str());
  }
  return options;
}

char byte_of(int message, std::size_t i) {
  return static_cast<char>((i * 2654435761U >> 7U) + static_cast<std::size_t>(message) * 31);
}

/// The next event, or none in time.
bool next_event(NormInstanceHandle instance, Clock::time_point until, NormEvent& event) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd wait{NormGetDescriptor(instance), POLLIN, 0};
    if (left <= 0 || ::poll(&wait, 1, static_cast<int>(left)) <= 0) return false;
    if (NormGetNextEvent(instance, &event, false)) return true;
  }
}

int send(const Options& options, NormInstanceHandle instance, NormSessionHandle session,
         Clock::time_point until) {
  for (int member = 1; member < options.members; ++member)
    NormAddAckingNode(session, static_cast<NormNodeId>(member + 1));
  NormSetTxRate(session, options.rate);
  NormSetTxSocketBuffer(session, 1U << 20U);
  NormSetTxCacheBounds(session, kMemory, 4, 64);
  NormSetGrttEstimate(session, options.grtt);
  NormSetGroupSize(session, static_cast<unsigned>(options.members));
  if (!NormStartSender(session, 1, kMemory, kSegment, kBlock, static_cast<UINT16>(options.parity)))
    fail("the sender does not start");
  ::sleep(1);  // the others join
  std::vector<char> data(options.bytes);
  std::vector<double> times;
  for (int message = 0; message < options.messages; ++message) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = byte_of(message, i);
    const auto begun = Clock::now();
    const auto object = NormDataEnqueue(session, data.data(), static_cast<UINT32>(data.size()));
    if (object == NORM_OBJECT_INVALID || !NormSetWatermark(session, object, true))
      fail("a message was not accepted");
    for (NormEvent event{}; event.type != NORM_TX_WATERMARK_COMPLETED;)
      if (!next_event(instance, until, event)) fail("the others did not acknowledge in time");
    if (NormGetAckingStatus(session) != NORM_ACK_SUCCESS) fail("a member did not acknowledge");
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - begun).count());
  }
  std::sort(times.begin(), times.end());
  const double wire = static_cast<double>(options.bytes) * 8e3 / options.rate;
  std::printf("NORM: %d messages of %zu bytes to %d members, rate %g, loss %g, parity %d\n",
              options.messages, options.bytes, options.members - 1, options.rate, options.loss,
              options.parity);
  std::printf("ms: least %.3f, median %.3f, most %.3f; median is %.4f of size / rate; mean %.3f\n",
              times.front(), times[times.size() / 2], times.back(), times[times.size() / 2] / wire,
              std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size()));
  return 0;
}

int receive(const Options& options, NormInstanceHandle instance, NormSessionHandle session,
            Clock::time_point until) {
  NormSetRxLoss(session, options.loss * 100);
  if (!NormStartReceiver(session, kMemory)) fail("the receiver does not start");
  NormSetRxSocketBuffer(session, 4U << 20U);
  NormEvent event{};
  for (int message = 0; message < options.messages;) {
    if (!next_event(instance, until, event)) fail("not everything came in time");
    if (event.type != NORM_RX_OBJECT_COMPLETED) continue;
    const char* data = NormDataAccessData(event.object);
    for (std::size_t i = 0; i < options.bytes; ++i)
      if (data[i] != byte_of(message, i)) fail("what came is not what was sent");
    ++message;
  }
  ::sleep(1);  // the last acknowledgement leaves
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = options_of(argc, argv);
  const auto until =
      Clock::now() + std::chrono::milliseconds(static_cast<long>(1e3 * options.seconds));
  const NormInstanceHandle instance = NormCreateInstance(false);
  const NormSessionHandle session =
      NormCreateSession(instance, kGroup, kPort, static_cast<NormNodeId>(options.me + 1));
  if (session == NORM_SESSION_INVALID) fail("there is no session");
  NormSetMulticastInterface(session, options.interface.c_str());
  NormSetRxPortReuse(session, true);
  const int result = options.me == 0 ? send(options, instance, session, until)
                                     : receive(options, instance, session, until);
  NormDestroySession(session);
  NormDestroyInstance(instance);
  return result;
}
