#include "select/defaults.h"

namespace unisono {

namespace {

constexpr Default kDefaults[] = {
    // A row nobody matches, so that the table may be empty.
    {"", Place::undersubscribed, Collective::barrier, 0, 0, 0, 0, "native"},
#include "select/defaults.inc"
};

}  // namespace

std::span<const Default> defaults() { return std::span(kDefaults).subspan(1); }

}  // namespace unisono
