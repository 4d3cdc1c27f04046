#include "schedule/printer.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace unisono {

namespace {

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

std::string node(std::size_t rank, std::size_t op) {
  std::string name = "r";
  name += std::to_string(rank);
  name += '_';
  name += std::to_string(op);
  return name;
}

}  // namespace

std::string buffer_name(BufferId buffer) {
  if (buffer == kInput) return "input";
  if (buffer == kOutput) return "output";
  if (buffer == kSlots) return "slots";
  return "scratch" + std::to_string(buffer - kFirstScratch);
}

std::string text(Slice slice) {
  return buffer_name(slice.buffer) + "[" + std::to_string(slice.offset) + ":" +
         std::to_string(slice.offset + slice.length) + "]";
}

std::string text(const Op& op) {
  const bool token = op.is_message() && op.length == 0;
  const std::string what = token ? "token" : text(op.slice());
  const std::string peer =
      op.is_bound() ? text({kSlots, op.slot(), 1}) : std::to_string(op.peer);  // who is in there
  switch (op.kind) {
    case OpKind::send: return "send " + what + " to " + peer;
    case OpKind::recv: return "recv " + what + " from " + peer;
    case OpKind::copy: return "copy " + text(op.from()) + " into " + what;
    case OpKind::reduce: return "reduce " + what + " = " + text(op.from()) + " (+) itself";
    case OpKind::library: return "collective of the MPI library";
    case OpKind::enqueue: return "enqueue " + peer + ", neighbours in " + what;
    case OpKind::serve:
      return "serve who waits, the first in " + what +
             (op.pause() > 0 ? ", after " + std::to_string(op.pause()) + " us" : "");
    case OpKind::multicast: return "multicast " + what + " to group " + std::to_string(op.group());
    case OpKind::recv_multicast:
      return "recv " + what + " from " + peer + ", to group " + std::to_string(op.group());
    case OpKind::join: break;
  }
  return "join";
}

std::string print_text(const Schedule& schedule, std::span<const Count> rounds) {
  std::size_t width = 0;
  for (const Op& op : schedule.ops()) width = std::max(width, text(op).size());
  std::string out;
  for (std::size_t k = 0; k < schedule.scratch().size(); ++k)
    out += buffer_name(static_cast<BufferId>(kFirstScratch + k)) + ": " +
           std::to_string(schedule.scratch()[k]) + " units\n";
  if (schedule.ops().empty()) out += "nothing to do\n";
  for (std::size_t i = 0; i < schedule.ops().size(); ++i) {
    std::string line = std::to_string(i);
    line.insert(0, line.size() < 5 ? 5 - line.size() : 0, ' ');
    if (!rounds.empty()) line += padded("  round " + std::to_string(rounds[i]), 12);
    line += "  " + padded(text(schedule.ops()[i]), width);
    const char* separator = "  after ";
    for (const OpId id : schedule.dependencies(static_cast<OpId>(i))) {
      line += separator + std::to_string(id);
      separator = ", ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string print_dot(std::span<const Schedule> schedules) {
  std::string out =
      "digraph schedule {\n"
      "  rankdir=LR; compound=true;\n"
      "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n";
  // (from, to, position) of a message: the node that sends it.
  std::map<std::tuple<std::size_t, std::size_t, Count>, std::string> senders;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    const Schedule& schedule = schedules[r];
    out += "  subgraph cluster_" + std::to_string(r) + " {\n    label=\"rank " + std::to_string(r) +
           "\";\n";
    for (std::size_t i = 0; i < schedule.ops().size(); ++i) {
      const Op& op = schedule.ops()[i];
      out += "    " + node(r, i) + " [label=\"" + text(op) + "\"];\n";
      if (op.kind == OpKind::send)
        senders[{r, static_cast<std::size_t>(op.peer), op.position()}] = node(r, i);
    }
    for (std::size_t i = 0; i < schedule.ops().size(); ++i)
      for (const OpId id : schedule.dependencies(static_cast<OpId>(i)))
        out += "    " + node(r, id) + " -> " + node(r, i) + " [color=gray];\n";
    out += "  }\n";
  }
  for (std::size_t r = 0; r < schedules.size(); ++r)
    for (std::size_t i = 0; i < schedules[r].ops().size(); ++i) {
      const Op& op = schedules[r].ops()[i];
      if (op.kind != OpKind::recv) continue;
      const auto sender = senders.find({static_cast<std::size_t>(op.peer), r, op.position()});
      if (sender != senders.end())
        out += "  " + sender->second + " -> " + node(r, i) + " [color=blue, penwidth=2];\n";
    }
  return out + "}\n";
}

}  // namespace unisono
