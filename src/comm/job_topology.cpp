#include "comm/job_topology.h"

#include <algorithm>
#include <array>
#include <climits>

#include "base/hash.h"
#include "mpi/comm.h"
#include "mpi/patience.h"
#include "node/domains.h"

namespace unisono {

namespace {

constexpr int kNoLabel = TopologyLabels::kNoLabel;

/// What each rank finds out by itself, and behind it its host on the torus.
constexpr std::array kOwnLevels = {Level::core, Level::cache, Level::numa, Level::network_switch};
using OwnLabels = std::array<int, kOwnLevels.size() + 1>;

/// Host names are what MPI says: that of a container, or of a host in a lab.
std::string own_host() {
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  PMPI_Get_processor_name(name.data(), &length);
  return name.data();
}

OwnLabels own_labels(MPI_Comm world, const TopologyFile* file) {
  const node::CpuMask mask = node::affinity();
  const auto label = [&mask](node::DomainKind kind) {
    const std::string domain = node::domain_of(kind, mask);
    return domain.empty() ? kNoLabel : static_cast<int>(fnv1a(domain) & INT_MAX);
  };
  int under = kNoLabel, on_torus = kNoLabel;
  if (file != nullptr) {
    const std::string host = file->places_ranks() ? file->node_of(rank_in(world)) : own_host();
    under = file->switch_of(host).value_or(kNoLabel);
    on_torus = file->torus().host_of(host).value_or(kNoLabel);
  }
  return {label(node::DomainKind::core), label(node::DomainKind::cache),
          label(node::DomainKind::memory), under, on_torus};
}

/// Why the file does not hold for this job; collective where it does not.
std::string problem_of(const TopologyFile& file, const TopologyLabels& found, MPI_Comm world) {
  if (file.places_ranks()) {
    const auto labels = file.labels(size_of(world));
    return labels ? "" : labels.error();
  }
  const auto first_missing = [](const std::vector<int>& labels) {
    return static_cast<int>(std::find(labels.begin(), labels.end(), kNoLabel) - labels.begin());
  };
  const int size = size_of(world);
  const int no_switch =
      file.names_switches() ? first_missing(found.at(Level::network_switch)) : size;
  const int rank =
      file.torus().known() ? std::min(no_switch, first_missing(found.torus.of_rank)) : no_switch;
  if (rank == size) return "";
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  own_host().copy(host.data(), host.size() - 1);
  PMPI_Bcast(host.data(), static_cast<int>(host.size()), MPI_CHAR, rank, world);
  return "host " + std::string(host.data()) + " of rank " + std::to_string(rank) +
         (rank == no_switch ? " is under no switch" : " is nowhere on the torus");
}

}  // namespace

JobTopology find_topology(MPI_Comm world, const std::vector<int>& nodes, const TopologyFile* file) {
  const auto size = static_cast<std::size_t>(size_of(world));
  const OwnLabels own = own_labels(world, file);
  const std::vector<int> labels_of_all = gather_patiently(own, world);
  std::vector<OwnLabels> all(size);
  for (std::size_t i = 0; i < labels_of_all.size(); ++i)
    all[i / own.size()][i % own.size()] = labels_of_all[i];
  JobTopology found;
  found.labels.at(Level::node) = nodes.empty() ? std::vector(size, 0) : nodes;
  for (std::size_t i = 0; i < kOwnLevels.size(); ++i)
    for (const OwnLabels& labels : all) found.labels.at(kOwnLevels[i]).push_back(labels[i]);
  if (file == nullptr) return found;
  found.labels.torus.routing = file->torus().routing();
  found.labels.torus.as_cart = file->torus().as_cart();
  if (file->torus().known()) {
    found.labels.torus = {file->torus().torus(), file->torus().routing(), {}};
    for (const OwnLabels& labels : all) found.labels.torus.of_rank.push_back(labels.back());
  }
  found.problem = problem_of(*file, found.labels, world);
  if (!found.problem.empty()) {
    found.labels.at(Level::network_switch).clear();
    found.labels.torus = {};
  } else if (file->places_ranks()) {
    found.labels.at(Level::node) = file->labels(static_cast<int>(size))->at(Level::node);
  }
  return found;
}

}  // namespace unisono
