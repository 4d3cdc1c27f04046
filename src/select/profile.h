// A profile: what `unisono tune` has measured and chosen, and where that holds. The file is
// described in python/unisono/profile/profile.schema.json; of it, this reads what a choice needs.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "select/platform.h"
#include "select/spec.h"

namespace unisono {

/// What a profile says of itself, in its first line but one.
inline constexpr const char* kProfileMark = "unisono.profile";

/// A choice for communicators of so many ranks on so many nodes. Both ends of the interval of bytes
/// are in it; bytes are those of Facts.
struct ProfileCell {
  Collective collective;
  int ranks, nodes;
  Count least_bytes, most_bytes;
  Spec spec;
};

struct ProfileEnvironment {
  Platform platform;
  std::vector<ProfileCell> cells;  ///< all of one number of ranks and nodes
};

using Profile = std::vector<ProfileEnvironment>;

/// The error is one line that says where the text is wrong.
Result<Profile> read_profile(std::string_view text);

/// The cells that hold for a job on this platform. The error says what is different there.
Result<std::vector<ProfileCell>> cells_for(const Profile& profile, const Platform& here);

}  // namespace unisono
