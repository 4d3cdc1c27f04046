// The phases of a composed algorithm that are collectives of sub-communicators: of the MPI library,
// or through the memory of a node.
#pragma once
#include "comm/sub_communicators.h"
#include "exec/execution.h"

namespace unisono {

class GroupCalls final : public GroupRunner {
 public:
  explicit GroupCalls(const SubCommunicators& groups) : groups_(groups) {}
  int run(const GroupCall& call, const std::byte* input, std::byte* output,
          const Binding& binding) override;

 private:
  const SubCommunicators& groups_;
};

}  // namespace unisono
