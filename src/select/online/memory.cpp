#include "select/online/memory.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "base/hash.h"
#include "base/version.h"
#include "files/json.h"
#include "files/names.h"
#include "model/machine_json.h"
#include "select/online/key.h"

namespace unisono {

namespace {

constexpr const char* kFormat = "unisono-memory";
constexpr Count kMemoryVersion = 4;
constexpr double kLongest = 1000;        // seconds of anything
constexpr double kSlowest = 1e-2;        // seconds per byte
constexpr std::size_t kMostPieces = 16;  // of a cost
// The same thing measured twice, on busy hosts.
constexpr double kAlikeRate = 3;

bool within_factor(double one, double other, double factor) {
  return one > 0 && other > 0 && one < factor * other && other < factor * one;
}

double time_in(const Json& object, const char* name) {
  return number(field(object, name), name, 1e-9, kLongest);
}

bool is_sane(const Cost& cost) {
  return cost.pieces.size() <= kMostPieces &&
         std::all_of(cost.pieces.begin(), cost.pieces.end(), [](const Cost::Piece& piece) {
           return piece.from >= 0 && piece.from <= 1e15 && piece.alpha >= 0 &&
                  piece.alpha <= kLongest && piece.beta >= 0 && piece.beta <= kSlowest;
         });
}

bool is_sane(const Machine& machine) {
  const auto& between = machine.levels[kBetweenNodes];
  if (!between || between->one_way.pieces.empty() || !(between->one_way(0) > 0) ||
      between->gap.pieces.empty() || !(between->one_way.pieces.front().beta > 0))
    return false;
  for (const auto& level : machine.levels)
    if (level && (!is_sane(level->one_way) || !is_sane(level->gap) || !is_sane(level->exchange) ||
                  level->active < 1))
      return false;
  return machine.gamma >= 0 && machine.gamma <= kSlowest && machine.copy >= 0 &&
         machine.copy <= kSlowest;
}

std::int64_t count(const Json& object, const char* name) {
  return integer(field(object, name), name, 0, std::numeric_limits<std::int64_t>::max());
}

// Texts of the file's own fields, so that a name needs no more than the catalogue to be checked.
Json json(const KeptVerdict& one) {
  const auto& [native, other] = one.verdict.times;
  return {{"collective", name(one.collective)},
          {"class", one.size_class},
          {"ranks", one.ranks},
          {"nodes", one.nodes},
          {"ranks_per_core", one.ranks_per_core},
          {"bytes", one.bytes},
          {"choice", one.verdict.winner == 0 ? "native" : text(one.other)},
          {"other", text(one.other)},
          {"seconds", other.in_calls},
          {"from_call_to_call", other.all},
          {"native_seconds", native.in_calls},
          {"native_from_call_to_call", native.all},
          {"when", one.when}};
}

/// Both ways, and that the second is one of a node, or one between hosts.
KeptVerdict verdict_from(const Json& object) {
  const auto time = [&](const char* name) { return time_in(object, name); };
  const auto collective = collective_named(word(object, "collective"));
  if (!collective) throw Bad{"no collective " + shown(field(object, "collective"))};
  const auto other = parse_spec(*collective, word(object, "other"));
  if (!other) throw Bad{other.error()};
  KeptVerdict one;
  one.collective = *collective;
  one.size_class = whole(object, "class", 0, kSizeClasses - 1);
  one.ranks = whole(object, "ranks", 2);
  one.nodes = whole(object, "nodes", 1, one.ranks);
  const bool is_in_node =
      other->algorithm != nullptr && (other->algorithm->restrictions & kOneNode) != 0;
  if (other->algorithm == nullptr || is_in_node != (one.nodes == 1))
    throw Bad{shown(field(object, "other")) + " is no way between so many nodes"};
  const std::string choice = word(object, "choice");
  if (choice != "native" && choice != word(object, "other"))
    throw Bad{in_quotes(choice) + " is neither of the two ways"};
  one.ranks_per_core = whole(object, "ranks_per_core", 0);
  one.bytes = count(object, "bytes");
  one.other = *other;
  one.verdict = {choice == "native" ? 0 : 1,
                 {{{time("native_seconds"), time("native_from_call_to_call")},
                   {time("seconds"), time("from_call_to_call")}}}};
  one.when = count(object, "when");
  return one;
}

Json json(const Whereabouts& here) {
  return {{"mpi", {{"flavour", here.flavour}, {"library", here.library}}},
          {"host", {{"processor", here.processor}, {"cores", here.cores}}},
          {"network", here.network}};
}

/// Whatever the bytes are: names of processors and libraries come from elsewhere.
std::string dumped(const Json& document, int indent) {
  return document.dump(indent, ' ', false, Json::error_handler_t::replace);
}

template <class Read>
void read_list(const Json& object, const char* name, std::size_t most, Read read) {
  const Json& all = list(object, name);
  if (all.size() > most) throw Bad{std::string(name) + " is no short list"};
  for (const Json& element : all) read(element);
}

Memory read(const Json& document, const Whereabouts& here, std::int64_t now) {
  if (!document.is_object() || document.value("format", Json()) != kFormat)
    throw Bad{"it is no memory of Unisono"};
  if (document.value("version", Json()) != kMemoryVersion) throw Bad{"it is of another version"};
  if (document.value("unisono", Json()) != UNISONO_VERSION)
    throw Bad{"it is of another version of Unisono"};
  if (field(document, "where") != parse_json(dumped(json(here), -1)))
    throw Bad{"it is of another place"};
  const auto is_fresh = [now](std::int64_t when) { return when <= now && when > now - kMostAge; };
  Memory memory;
  memory.measured = count(document, "measured");
  if (!is_fresh(memory.measured)) memory.measured = 0;
  if (memory.measured > 0 && !field(document, "machine").is_null()) {
    memory.machine = machine_from(field(document, "machine"));
    if (!is_sane(*memory.machine)) throw Bad{"its machine is none"};
    memory.machine->incast = kCheapSwitch;
  }
  read_list(document, "verdicts", kMostRemembered, [&](const Json& entry) {
    KeptVerdict one = verdict_from(entry);
    if (is_fresh(one.when)) memory.verdicts.push_back(one);
  });
  return memory;
}

}  // namespace

std::string Whereabouts::file_name() const {
  return memory_name(flavour, fnv1a(dumped(json(*this), -1)));
}

Result<Memory> read_memory(std::string_view text, const Whereabouts& here, std::int64_t now) {
  return result_of([&] { return read(parse_json(text), here, now); });
}

std::string write_memory(const Memory& memory, const Whereabouts& here) {
  Json verdicts = Json::array();
  for (const KeptVerdict& one : memory.verdicts) verdicts.push_back(json(one));
  const Json document{{"format", kFormat},
                      {"version", kMemoryVersion},
                      {"unisono", UNISONO_VERSION},
                      {"where", json(here)},
                      {"measured", memory.measured},
                      {"machine", memory.machine ? json(*memory.machine) : Json()},
                      {"verdicts", std::move(verdicts)}};
  return dumped(document, 1) + "\n";
}

namespace {

/// Without the names of the fields, which are longer than what they hold, but once.
template <class One>
Json packed(const std::vector<One>& all) {
  Json names = Json::array(), rows = Json::array();
  for (const One& one : all) {
    const Json object = json(one);
    Json row = Json::array();
    if (names.empty())
      for (const auto& [name, value] : object.items()) names.push_back(name);
    for (const Json& value : object) row.push_back(value);
    rows.push_back(std::move(row));
  }
  return {{"names", names}, {"rows", rows}};
}

template <class Read>
void unpack(const Json& all, Read read) {
  const Json& names = all.at("names");
  for (const Json& row : all.at("rows")) {
    Json object;
    for (std::size_t i = 0; i < names.size(); ++i) object[names[i].get<std::string>()] = row.at(i);
    read(object);
  }
}

/// The later one of each kind; the newest first, and no more than is kept.
template <class One, class IsLike>
void take_later(std::vector<One>& old, const std::vector<One>& found, IsLike is_like) {
  for (const One& one : found) {
    const auto known =
        std::find_if(old.begin(), old.end(), [&](const One& other) { return is_like(other, one); });
    if (known == old.end())
      old.push_back(one);
    else if (one.when >= known->when)
      *known = one;
  }
  std::stable_sort(old.begin(), old.end(),
                   [](const One& a, const One& b) { return a.when > b.when; });
  if (old.size() > kMostRemembered) old.resize(kMostRemembered);
}

/// Bytes that some host hears at least in a call of the kind; 0: it depends.
double heard_in(const KeptVerdict& one) {
  using enum Collective;
  const auto least = static_cast<double>(bytes_of_class(one.size_class).first);
  const bool whole = one.collective == bcast || one.collective == reduce ||
                     one.collective == allreduce || one.collective == scan;
  return one.nodes < 2                 ? 0
         : whole                       ? least
         : one.collective == allgather ? least * (one.nodes - 1)
                                       : 0;
}

/// No call is over before its bytes are there: a network on which one was is faster than measured.
void correct(Machine& machine, const std::vector<KeptVerdict>& found) {
  auto& between = machine.levels[kBetweenNodes];
  if (!between) return;
  for (const KeptVerdict& one : found)
    if (const double heard = heard_in(one); heard > 0)
      for (const WayTimes& way : one.verdict.times)
        for (Cost* cost : {&between->one_way, &between->gap, &between->exchange})
          for (Cost::Piece& piece : cost->pieces)
            piece.beta = std::min(piece.beta, way.all / heard);
}

}  // namespace

std::string pack_memory(const Memory& memory) {
  const Json machine = memory.machine ? json(*memory.machine) : Json();
  return dumped(Json{{"machine", machine}, {"verdicts", packed(memory.verdicts)}}, -1);
}

Memory unpack_memory(std::string_view text) {
  const Json document = parse_json(text);
  Memory memory;
  if (!document.at("machine").is_null()) {
    memory.machine = machine_from(document.at("machine"));
  }
  unpack(document.at("verdicts"),
         [&](const Json& object) { memory.verdicts.push_back(verdict_from(object)); });
  return memory;
}

Memory merged(Memory old, const Memory& found) {
  if (found.machine && found.measured >= old.measured) {
    old.machine = found.machine;
    old.measured = found.measured;
  }
  take_later(old.verdicts, found.verdicts,
             [](const KeptVerdict& one, const KeptVerdict& other) { return one.is_like(other); });
  if (old.machine) correct(*old.machine, found.verdicts);
  return old;
}

// On busy hosts a short message takes ten times as long now and then; the rate tells networks
// apart.
bool are_alike(const Machine& one, const Machine& other) {
  const auto &a = one.levels[kBetweenNodes], &b = other.levels[kBetweenNodes];
  return a && b &&
         within_factor(a->one_way.pieces.front().beta, b->one_way.pieces.front().beta, kAlikeRate);
}

}  // namespace unisono
