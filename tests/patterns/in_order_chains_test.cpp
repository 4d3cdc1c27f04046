// Whatever the lengths of the chains, they are trees in rank order, and share the work.
#include "patterns/in_order_chains.h"

#include <gtest/gtest.h>

#include "tests/patterns/in_order.h"

namespace unisono {
namespace {

TEST(InOrderChains, SubtreesAreIntervalsInEveryTurn) {
  for (int size = 1; size <= 70; ++size)
    for (const int radix : {1, 2, 3, 4, 7, 16, 64})
      for (int turn = 0; turn < radix; ++turn) {
        const InOrderChains chains{size, radix};
        expect_in_order(size, [&](int x) { return chains.node(x, turn); });
        if (HasFatalFailure()) FAIL() << "radix " << radix << ", turn " << turn;
      }
}

// Sums come up from whoever has somebody behind, what lies before goes down to whoever has it.
TEST(InOrderChains, TheMembersShareTheEdgesOfTheTree) {
  for (const int size : {1, 2, 7, 8, 30, 100, 257})
    for (const int radix : {1, 2, 3, 4, 7, 16, 64})
      for (int x = 1; x <= size; ++x) {
        int sent = 0, received = 0;
        for (int turn = 0; turn < radix; ++turn) {
          const InOrderNode node = InOrderChains{size, radix}.node(x, turn);
          const bool before = node.first > 1, behind = node.last < size;
          const bool left = node.left != 0, right = node.right != 0;
          sent += int{behind} + int{left && before} + int{right};
          received += int{before} + int{left} + int{right && behind};
        }
        const int most = size <= 3 * radix ? radix : 2 * radix + 1;
        ASSERT_LE(sent, most) << x << " of " << size << ", radix " << radix;
        ASSERT_LE(received, most) << x << " of " << size << ", radix " << radix;
      }
}

}  // namespace
}  // namespace unisono
