// The one place where volk is compiled.

#define VK_NO_PROTOTYPES
#define VOLK_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <volk.h>
#pragma GCC diagnostic pop
