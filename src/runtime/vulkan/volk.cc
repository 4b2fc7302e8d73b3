// The only file that compiles volk.

#define VK_NO_PROTOTYPES
#define VOLK_IMPLEMENTATION
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <volk.h>
#pragma GCC diagnostic pop
