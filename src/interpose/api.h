// What the functions of include/unisono/unisono.h share.
#pragma once
#include <string>

namespace unisono {

/// -1, and what unisono_error() says from now on.
int fail_with(const std::string& text);

}  // namespace unisono
