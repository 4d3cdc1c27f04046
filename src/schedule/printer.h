// Schedules for people: as text, and as a graph for Graphviz.
#pragma once
#include <span>
#include <string>

#include "schedule/metrics.h"
#include "schedule/schedule.h"

namespace unisono {

/// "input", "output", "scratch0", ...
std::string buffer_name(BufferId buffer);

/// "output[4096:8192]": the units from the first to before the last.
std::string text(Slice slice);

/// "recv output[0:64] from 3"
std::string text(const Op& op);

/// One line per op: number, round (when `rounds` is given), what it does, what it waits for.
std::string print_text(const Schedule& schedule, std::span<const Count> rounds = {});

/// The ops of all ranks as a DOT graph: a box per rank, messages between the boxes.
std::string print_dot(std::span<const Schedule> schedules);

}  // namespace unisono
