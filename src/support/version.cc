#include "support/version.h"

#include "vyre/version.h"

namespace vyre {

std::string_view library_version() { return VYRE_VERSION; }
std::string_view library_revision() { return VYRE_GIT; }

}  // namespace vyre
