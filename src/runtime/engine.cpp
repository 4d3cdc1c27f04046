#include "runtime/engine.h"

#include <unistd.h>
#include <charconv>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>
#include <vector>

#include "base/config.h"
#include "base/hash.h"
#include "base/printable.h"
#include "base/size.h"
#include "calls/in_flight.h"
#include "calls/persistent.h"
#include "calls/progress_thread.h"
#include "comm/job_topology.h"
#include "comm/node_memory.h"
#include "comm/outliving.h"
#include "comm/placement.h"
#include "files/file.h"
#include "mpi/agreement.h"
#include "mpi/comm.h"
#include "mpi/device_memory.h"
#include "mpi/library_waits.h"
#include "mpi/patience.h"
#include "mpi/progress.h"
#include "mpi/simulated.h"
#include "mpi/threads.h"
#include "node/domains.h"
#include "runtime/meeting.h"
#include "runtime/memory.h"
#include "runtime/misspelt.h"
#include "runtime/online_job.h"
#include "runtime/settings_hash.h"
#include "runtime/words.h"
#include "select/profile.h"
#include "select/stored_order.h"
#include "wait/poll.h"

namespace unisono {

constinit std::atomic<bool> g_several_threads{true};
constinit std::atomic<bool> g_session_threads{false};
constinit std::atomic<unsigned long long> g_native_calls{0}, g_own_calls{0};

namespace {

constexpr std::size_t kDefaultPlanCache = std::size_t{64} << 20;

Result<std::string> read_named(std::string_view name) {
  const std::string path = variable(name);
  return path.empty() ? Error{} : read_file(path);
}

/// Whether any of it holds for one network.
bool names_network(const Result<Profile>& profile) {
  return profile && std::any_of(profile->begin(), profile->end(), [](const auto& environment) {
           return environment.platform.network_rate > 0;
         });
}

}  // namespace

// Never destroyed: a program may call MPI in its own exit handlers, after ours.
Engine& Engine::instance() {
  static Engine& engine = *new Engine;
  return engine;
}

void Engine::start() noexcept {
  try {
    first_rank_ = rank_in(MPI_COMM_WORLD) == 0;
    Files files;
    // Also when this rank is disabled, or has no memory: it must not leave the others waiting.
    if (has_met(meet(read_settings(files), place_))) begin(files);
    give_way_no_more();
  } catch (...) {
    started_ = active_ = online_ = false;
    const bool alone = size_of(MPI_COMM_WORLD) == 1;
    say_in_need(alone ? "no memory in MPI_Init; everything runs in the MPI library"
                      : "no memory in MPI_Init, where other ranks wait: the job is aborted");
    give_way_no_more();
    if (alone) return;
    PMPI_Abort(MPI_COMM_WORLD, 1);
    _exit(1);
  }
}

OwnSettings Engine::read_settings(Files& files) noexcept {
  try {
    files = {read_named("UNISONO_PROFILE"), read_named("UNISONO_TOPOLOGY")};
    return own_settings(files.profile, files.topology);
  } catch (...) {
    say_in_need("no memory in MPI_Init");
    return {};
  }
}

bool Engine::has_met(Meeting meeting) const {
  if (const std::string problem = problem_of(meeting); !problem.empty()) complain(problem);
  return meeting == Meeting::agreed;
}

void Engine::begin(const Files& files) {
  const std::string folder = variable("UNISONO_TRACE");
  const auto mode = parse_mode(variable("UNISONO"));
  if (!mode) complain(setting("UNISONO") + ": " + mode.error() + "; auto holds");
  mode_ = mode ? *mode : Mode::automatic;
  active_ = !is_switched_off();
  if (!active_ && folder.empty()) return;
  int threads = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&threads);
  g_several_threads = threads == MPI_THREAD_MULTIPLE;
  if (g_session_threads) g_several_threads = true;
  const std::string device = variable("UNISONO_DEVICE");
  if (device != "native" && device != "host")
    complain(setting("UNISONO_DEVICE") + ": valid are native and host; native holds");
  g_stages_devices = device == "host";
  look_for_devices();
  start_datatypes();
  const MPI_Comm node = ranks_of_node(MPI_COMM_WORLD, place_);
  if (active_)
    read_environment(files, node);
  else
    start_communicators(0);
  started_ = true;
  // A program may live on nonblocking calls alone, which cannot wait for a duplicate to be made.
  prepares_ = active_ && selector_.asks_for_messages();
  Communicator* world = Communicator::of(MPI_COMM_WORLD);
  prepares_messages_ = active_ && selector_.forces_messages_in_node();
  const bool kernels = active_ && selector_.forces_kernels();
  if ((prepares_ || kernels) && world != nullptr && world->size() > 1) {
    world->meet();
    if (kernels) world->want_messages();
    world->want_own();
    prepare_flights(*world);
  }
  if (!folder.empty()) tracer_ = Tracer::start(folder, node);
  free_node(node);
  g_tracer = tracer_.get();
}

void Engine::use_profile(const Result<Profile>& profile, const Platform& here, int nodes) {
  const std::string path = variable("UNISONO_PROFILE");
  if (path.empty()) return;
  auto cells = profile ? cells_for(*profile, here) : Error{profile.error()};
  if (!cells) {
    complain(line_about("UNISONO_PROFILE=" + path, cells.error(),
                        "all goes on as without a profile; unisono tune makes one for here"));
    return;
  }
  const std::string lacks = lacking_text(*cells, size_of(MPI_COMM_WORLD), nodes);
  if (!lacks.empty()) complain(line_about("UNISONO_PROFILE=" + path, lacks));
  const std::string name = std::filesystem::path(path).filename();
  if (log_decisions_)
    complain("profile " + name + ": " + std::to_string(cells->size()) +
             (cells->size() == 1 ? " cell holds here" : " cells hold here") + shapes_text(*cells));
  selector_.use(std::move(*cells), "profile " + name);
}

/// What all ranks read alike. Collective where such a file is named, which all ranks see alike.
void Engine::load_order(const std::string& setting, const Spec& spec) const {
  if (spec.params.file == nullptr) return;
  const auto text = read_file(*spec.params.file);
  auto order = text ? read_order(*text) : Error{text.error()};
  const bool equal = all_equal(MPI_COMM_WORLD, text ? fnv1a(*text) : fnv1a("unreadable"));
  if (equal && order) return keep_loaded(spec.params.file, std::move(order->list));
  complain(line_about(
      setting, equal ? order.error() : "the file is not the same on all ranks",
      "counts are exchanged, as by token_list; unisono schedule make writes such a file"));
}

void Engine::read_environment(const Files& files, MPI_Comm ranks_here) {
  if (first_rank_)
    for (const std::string& line : misspelt_variables()) say(line);
  const std::string log = variable("UNISONO_LOG");
  log_decisions_ = log == "decision";
  if (!log.empty() && !log_decisions_)
    complain(setting("UNISONO_LOG") + ": no such kind; valid is decision; nothing is logged");
  const NodeFacts node = node_facts(MPI_COMM_WORLD, ranks_here, place_);
  Platform here = platform_of(MPI_COMM_WORLD, node);
  selector_ = Selector(here.flavour, here.place);
  for (int c = 0; c < kCollectives; ++c) {
    const std::string name = variable_of_collective(kCollectiveNames[static_cast<std::size_t>(c)]);
    const auto spec = selector_.force(static_cast<Collective>(c), variable(name));
    if (!spec) {
      complain(setting(name) + ": " + spec.error() + "; the MPI library's own runs");
      static_cast<void>(selector_.force(static_cast<Collective>(c), "native"));
    } else {
      load_order(setting(name), *spec);
    }
  }

  const auto wait = parse_wait(variable("UNISONO_WAIT"));
  if (!wait) complain(setting("UNISONO_WAIT") + ": " + wait.error());
  const std::optional<AskedWait> asked_wait = wait ? *wait : std::nullopt;
  const auto asked = asked_wait ? std::optional(asked_wait->mode) : std::nullopt;
  if (asked_wait && asked_wait->yields) wait::fix_yields(*asked_wait->yields);
  wait_ = asked ? *asked : automatic_wait(node.oversubscribed, several_threads());
  give_way(when_waits_give_way(asked, node.oversubscribed), waits_of(library_line()));

  const auto cache = parse_size(variable("UNISONO_PLAN_CACHE"));
  if (!cache)
    complain(setting("UNISONO_PLAN_CACHE") +
             ": no size; valid are 0, 4096, 64K, 1M, ...; 64M holds");
  begin_progress(node);
  plan_repeated_calls(is_on("UNISONO_REPEATS", true), log_decisions_);
  const auto reproducible = parse_reproducible(variable("UNISONO_REPRODUCIBLE"));
  if (!reproducible) complain(setting("UNISONO_REPRODUCIBLE") + ": " + reproducible.error());
  selector_.reproduce(reproducible ? *reproducible : Reproducible::runs);
  g_keeps_runs = !reproducible || *reproducible == Reproducible::runs;
  const auto nodes = nodes_of_ranks(MPI_COMM_WORLD, ranks_here, node);
  const std::set<int> different(nodes.begin(), nodes.end());
  const auto profile = files.profile ? read_profile(*files.profile) : Error{files.profile.error()};
  const bool shares = find_network(ranks_here, node, profile);
  here.network_rate = network_rate(machine_);
  use_profile(profile, here, std::max(1, static_cast<int>(different.size())));
  if (mode_ == Mode::fixed) selector_.use(remembered_cells(), "remembered", true);
  select_online(here, node);
  passes_first_calls_ = passes_first_calls();
  if (!shares) share_memory(ranks_here, {});
  const bool has_memory = has_node_memory() || size_of(ranks_here) == 1;
  const bool all_know = node.all_alone || node.one_node;
  kernels_in_nodes_ = (left_online().collectives != 0 || online_job().leads_safely) &&
                      (all_know ? has_memory : all_agree_patiently(MPI_COMM_WORLD, has_memory));
  start_multicasting();
  start_communicators(cache ? static_cast<std::size_t>(*cache) : kDefaultPlanCache, nodes,
                      find_levels(files.topology, nodes), portion_bytes(node));
}

// Where the network was measured, its rate is; TCP's own headers took a share of it.
void Engine::start_multicasting() {
  constexpr double kFrame = 1514, kTcpPayload = 1448;
  MulticastSettings settings;
  settings.interface = variable("UNISONO_MCAST_INTERFACE");
  settings.rate = network_rate(machine_) * kFrame / kTcpPayload;
  const auto number = [this](const char* name, double least, double otherwise) {
    const std::string text = variable(name);
    double value = otherwise;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text == "auto" || (error == std::errc() && *end == '\0' && value >= least)) return value;
    complain(setting(name) + ": no number from " + std::to_string(static_cast<int>(least)) +
             " on; the standard one holds");
    return otherwise;
  };
  settings.rate = number("UNISONO_MCAST_RATE", 1, settings.rate / 1e6) * 1e6;
  settings.most_groups = static_cast<int>(number("UNISONO_MCAST_GROUPS", 0, settings.most_groups));
  settings.silence_seconds = number("UNISONO_MCAST_SILENCE", 0, 0);
  const std::string who = variable("UNISONO_MCAST_RELIABILITY");
  settings.acknowledges = who == "ack";
  if (who != "ack" && who != "nack")
    complain(setting("UNISONO_MCAST_RELIABILITY") + ": valid are nack and ack; nack holds");
  start_multicast(settings);
}

bool Engine::is_on(const char* name, bool otherwise) const {
  const std::string text = variable(name);
  if (text == "0" || text == "1") return text == "1";
  complain(setting(name) + ": valid are 0 and 1; " + (otherwise ? "1" : "0") + " holds");
  return otherwise;
}

// Without a file, and while nothing asks for other levels, the nodes are enough.
TopologyLabels Engine::find_levels(const Result<std::string>& text,
                                   const std::vector<int>& nodes) const {
  const std::string path = variable("UNISONO_TOPOLOGY");
  if (path.empty() && !selector_.reads_topology()) {
    TopologyLabels labels;
    labels.at(Level::node) = nodes;
    return labels;
  }
  const auto refuse = [&](const std::string& why) {
    complain(line_about("UNISONO_TOPOLOGY=" + path, why, "all goes on as without a file"));
  };
  const auto file = text ? TopologyFile::parse(*text) : Error{text.error()};
  if (!path.empty() && !file) refuse(file.error());
  JobTopology found = find_topology(MPI_COMM_WORLD, nodes, file ? &*file : nullptr);
  if (!found.problem.empty()) refuse(found.problem);
  return std::move(found.labels);
}

void Engine::share_memory(MPI_Comm node, const Notice& notice) {
  NodeSettings settings;
  settings.notice = notice;
  const auto read = [this](const char* name, auto parse, auto& into) {
    const std::string text = variable(name);
    const auto value = parse(text);
    if (!value) complain(setting(name) + ": " + value.error() + "; auto holds");
    if (value) into = *value;
  };
  read("UNISONO_SHM", parse_node_memory, settings.bytes);
  read("UNISONO_SHM_RING", parse_ring, settings.ring);
  read("UNISONO_SHM_STORE", parse_store, settings.store);
  read("UNISONO_SHM_PROBE", parse_probe, settings.probe);
  settings.single_copy = is_on("UNISONO_SINGLE_COPY", true);
  settings.mode = wait_;
  if (mode_ == Mode::fixed) settings.probe = 0;
  if (settings.bytes != 0) start_node_memory(node, settings);
  if (!log_decisions_) return;
  if (const auto domains = domains_in(node); !domains.empty()) complain(domains_text(domains));
}

/// What earlier jobs know, and what the network costs where somebody asks for that; nobody else
/// pays for it. What asks is the same on all ranks. Whether memory is shared with that: where all
/// are on one node, what is remembered stands there.
bool Engine::find_network(MPI_Comm ranks_here, const NodeFacts& node,
                          const Result<Profile>& profile) {
  bool shares = false;
  const auto post = [&](Notice& notice) {
    shares = node.one_node;
    if (shares) share_memory(ranks_here, notice);
    if (shares && has_node_memory())
      notice = node_notice();
    else
      tell_patiently(notice.data(), static_cast<int>(notice.size()), MPI_COMM_WORLD);
  };
  const bool asks = mode_ == Mode::measure || !variable("UNISONO_TRACE").empty() ||
                    names_network(profile) || selector_.asks_for_network();
  std::vector<std::string> lines;
  machine_ = recall(MPI_COMM_WORLD, ranks_here, node, {mode_, asks}, post, lines);
  knows_machine_ = machine_.levels[kBetweenNodes] || machine_.levels[kWithinNode];
  if (knows_machine_) lines.push_back("network: " + summary(machine_));
  if (log_decisions_)
    for (const std::string& line : lines) complain(line);
  return shares;
}

void Engine::select_online(const Platform& here, const NodeFacts& node) {
  const auto settings = start_online(here, wait_, log_decisions_, mode_);
  if (!settings)
    complain(setting("UNISONO_ONLINE") + ": " + settings.error() + "; nothing is selected online");
  if (settings && mode_ == Mode::fixed && !is_standard("UNISONO_ONLINE"))
    complain(setting("UNISONO_ONLINE") + ": with UNISONO=fixed nothing is learned");
  use_network(node, machine_, mode_);
  online_ = selector_.leave_online(left_online());
  if (online_job().leads_safely) selector_.lead_safely();
  if (!online_ && !variable("UNISONO_ONLINE_SAVE").empty())
    complain("UNISONO_ONLINE_SAVE: nothing is selected online here: nothing will be learned");
  if (log_decisions_ && selector_.candidates() == 0)
    complain("no better choices are known here: the MPI library runs every call");
}

void Engine::stop() noexcept {
  if (!started_) return;
  stop_progress_thread();
  settle_in_flight();
  end_outliving();
  try {
    // A thread may be in a call on a session's communicator, all of whose ranks have a session.
    // They do not ask each other: a rank may have ended after a failure.
    if (active_ && g_session_threads) return stay();
    end();
  } catch (...) {
    say_in_need("no memory in MPI_Finalize; what Unisono still holds goes with the process");
  }
}

/// Sessions go on after MPI_Finalize, and their communicators' calls in Unisono: all ranks would
/// have to stop at the same call. What they use is kept. A rank that ends now is not lost.
void Engine::stay() {
  started_ = false;
  g_tracer = nullptr;
  if (tracer_) tracer_->stop();
  // Ranks without a session wait for it before they end.
  complete_learning();
  stop_node_memory();
  keep_what_is_learned();
}

void Engine::end() {
  started_ = active_ = false;
  g_tracer = nullptr;
  if (tracer_) tracer_->stop();
  tracer_.reset();
  stop_persistent();
  stop_communicators();
  stop_node_memory();
  stop_progress();
  stop_datatypes();
  keep_what_is_learned();
}

void Engine::keep_what_is_learned() const {
  if (!first_rank_) return;
  if (const std::string problem = keep_memory(); log_decisions_ && !problem.empty()) say(problem);
  if (!online_) return;
  if (log_decisions_)
    for (const std::string& line : online_report()) say(line);
  if (const auto error = save_online()) say(*error);
}

/// Nothing is asked for that a communicator's first calls would have to serve. Not UNISONO_LOG,
/// which is a rank's own affair.
bool Engine::passes_first_calls() const {
  return mode_ != Mode::fixed && selector_.has_defaults_only();
}

Result<Spec> Engine::force(Collective collective, std::string_view spec) {
  auto forced = selector_.force(collective, spec);
  passes_first_calls_ = passes_first_calls();
  forget_reaches();
  return forced;
}

}  // namespace unisono
