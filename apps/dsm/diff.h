// What of a page has changed, in a form that travels. This part needs no MPI.
//
// A record is the page's number, how many runs follow, and for each run of changed words its first
// word, its length and the words. A word has four bytes, as in TreadMarks (Keleher et al. 1994):
// what different ranks write between two barriers must not share one.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace apps::dsm {

using Bytes = std::vector<std::byte>;
using PageNumber = std::uint32_t;

/// Appends the record of what differs from `before`; nothing where nothing does. Returns whether
/// something was appended.
bool append_changes(PageNumber page, const std::byte* now, const std::byte* before,
                    std::size_t page_bytes, Bytes& record);

/// Appends a record of the whole page, as a single run.
void append_page(PageNumber page, const std::byte* now, std::size_t page_bytes, Bytes& record);

/// Walks through records.
class Records {
 public:
  Records(const std::byte* begin, std::size_t bytes) : at_(begin), end_(begin + bytes) {}
  bool more() const { return at_ != end_; }
  PageNumber page() const;
  /// Writes the changed words of this record to `page`, and goes on to the next one.
  void apply(std::byte* page);

 private:
  const std::byte *at_, *end_;
};

}  // namespace apps::dsm
