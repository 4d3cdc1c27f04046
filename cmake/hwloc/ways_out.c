/* What libhwloc.a calls outside itself beside the C library (cmake/Hwloc.cmake): nothing is there. */
#include <stddef.h>

#define NOTHING(name) \
  void* name(void) { return NULL; }

NOTHING(unisono_hwloc_no_plugin)
NOTHING(unisono_hwloc_no_udev)
NOTHING(unisono_hwloc_no_udev_unref)
NOTHING(unisono_hwloc_no_device)
NOTHING(unisono_hwloc_no_device_unref)
NOTHING(unisono_hwloc_no_property)
