#include "comms.h"

namespace conformance {

namespace {

constexpr std::size_t kFixed = 2;  // MPI_COMM_WORLD and MPI_COMM_SELF
constexpr std::size_t kSlots = 8;

/// Of two groups of any sizes.
void create_inter(Rng& rng, int size, MPI_Comm base, Communicator* c) {
  int rank = 0;
  MPI_Comm_rank(base, &rank);
  c->text = "inter";
  c->inter = true;
  const int cut = static_cast<int>(rng.between(1, size - 1));
  c->colour = rank < cut ? 0 : 1;
  MPI_Comm local;
  MPI_Comm_split(base, c->colour, rank, &local);
  MPI_Intercomm_create(local, 0, base, c->colour == 0 ? cut : 0, 4711, &c->handle);
  MPI_Comm_free(&local);
}

}  // namespace

Communicators::Communicators(std::uint64_t seed, MPI_Comm base, bool mixed)
    : seed_(seed), base_(base), mixed_(mixed) {
  int rank = 0;
  MPI_Comm_rank(base_, &rank);
  all_.push_back({base_, false, false, 0, "world", false, false, {}});
  all_.push_back({MPI_COMM_SELF, false, false, rank, "self", false, false, {}});
  if (base_ != MPI_COMM_WORLD) {  // another thread may be using it
    MPI_Comm_split(base_, rank, 0, &all_.back().handle);
    all_.back().owned = true;
  }
  for (std::size_t i = kFixed; i < kSlots; ++i) {
    Rng rng{seed_, 0x636f6d6d, i};
    all_.push_back(create(rng));
  }
}

Communicators::~Communicators() {
  for (Communicator& c : all_)
    if (c.owned && c.handle != MPI_COMM_NULL) MPI_Comm_free(&c.handle);
}

void Communicators::replace_one(std::uint64_t epoch) {
  Rng rng{seed_, 0x65706f6368, epoch};
  Communicator& slot =
      all_[kFixed + static_cast<std::size_t>(rng.below(static_cast<long long>(kSlots - kFixed)))];
  if (slot.handle != MPI_COMM_NULL) MPI_Comm_free(&slot.handle);
  slot = create(rng);
}

Communicator Communicators::create(Rng& rng) const {
  if (mixed_ && rng.chance(50)) return create_topology(rng, base_);
  Communicator c;
  int rank = 0, size = 1;
  MPI_Comm_rank(base_, &rank);
  MPI_Comm_size(base_, &size);
  const auto me = static_cast<std::size_t>(rank);
  const std::vector<int> order = rng.permutation(size);
  switch (rng.below(8)) {
    case 0:
      c.text = "dup";
      MPI_Comm_dup(base_, &c.handle);
      break;
    case 1:
      c.text = "reversed";
      MPI_Comm_split(base_, 0, size - rank, &c.handle);
      break;
    case 2:
      c.text = "shuffled";
      MPI_Comm_split(base_, 0, order[me], &c.handle);
      break;
    case 3:
      c.text = "parity";
      c.colour = rank % 2;
      MPI_Comm_split(base_, c.colour, order[me], &c.handle);
      break;
    case 4:
      c.text = "all but one";
      MPI_Comm_split(base_, order[me] == 0 ? MPI_UNDEFINED : 0, order[me], &c.handle);
      break;
    case 5: {
      c.text = "group";
      MPI_Group world, group;
      MPI_Comm_group(base_, &world);
      MPI_Group_incl(world, static_cast<int>(rng.between(1, size)), order.data(), &group);
      MPI_Comm_create(base_, group, &c.handle);
      MPI_Group_free(&group);
      MPI_Group_free(&world);
      break;
    }
    case 6: {
      c.text = "cartesian";
      int dims[2] = {0, 0};
      const int periods[2] = {1, 0};
      MPI_Dims_create(size, 2, dims);
      MPI_Cart_create(base_, 2, dims, periods, 1, &c.handle);
      c.has_topology = true;
      c.folded = dims[0] <= 2;
      c.neighbours = neighbours_of(c.handle);
      break;
    }
    default: {
      if (size < 2) {
        c.text = "dup";
        MPI_Comm_dup(base_, &c.handle);
        break;
      }
      create_inter(rng, size, base_, &c);
      break;
    }
  }
  return c;
}

}  // namespace conformance
