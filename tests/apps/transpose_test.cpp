#include "apps/common/transpose.h"

#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <thread>

namespace apps {
namespace {

using Element = std::array<double, 2>;

/// All ranks as threads.
TEST(Transpose, IsWholeOnAnyNumberOfRanks) {
  constexpr std::size_t kRows = 12, kColumns = 24;
  for (const std::size_t p : {1u, 2u, 3u, 6u}) {
    std::vector<const double*> sent(p);
    std::barrier arrived(static_cast<std::ptrdiff_t>(p));
    std::vector<std::vector<Element>> found(p);
    const auto rank = [&](std::size_t own) {
      Team team{p, own, [&](const double* send, double* receive, std::size_t block) {
                  sent[own] = send;
                  arrived.arrive_and_wait();
                  for (std::size_t from = 0; from < p; ++from)
                    std::copy_n(sent[from] + own * block, block, receive + from * block);
                  arrived.arrive_and_wait();
                }};
      std::vector<Element> rows(kRows * kColumns / p);
      for (std::size_t i = 0; i < rows.size(); ++i)
        rows[i] = {static_cast<double>(own * rows.size() + i), -1.0};
      Transpose<Element> transpose(kRows, kColumns, team);
      EXPECT_EQ(transpose.block_bytes(), sizeof(Element) * kRows * kColumns / p / p);
      transpose(rows.data(), rows.data());
      found[own] = rows;
    };
    std::vector<std::thread> ranks;
    for (std::size_t own = 0; own < p; ++own) ranks.emplace_back(rank, own);
    for (std::thread& one : ranks) one.join();
    std::vector<Element> whole;
    for (const auto& own : found) whole.insert(whole.end(), own.begin(), own.end());
    for (std::size_t j = 0; j < kColumns; ++j)
      for (std::size_t i = 0; i < kRows; ++i)
        EXPECT_EQ(whole[j * kRows + i][0], static_cast<double>(i * kColumns + j)) << p << " ranks";
  }
}

}  // namespace
}  // namespace apps
