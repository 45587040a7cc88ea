// Joining packages into one.
#ifndef TILE_FORMATS_LINK_H
#define TILE_FORMATS_LINK_H

#include "formats/Package.h"

namespace tile::runtime {

/// Joins `packages`, whose files `names` are for messages, into `joined`; modules that are the same
/// are taken once. Fails where two variants of one kernel, from different packages, could take the
/// same call on one target, and neither is the generic one of the other, or where kernels of one
/// name have other parameters.
Error linkPackages(const std::vector<Package> &packages, const std::vector<std::string> &names,
                   Package &joined);

/// Whether some call could fit both records: nothing in dtypes, ranks, constant dimensions and
/// ranges tells them apart.
bool mayOverlap(const Kernel &a, const Kernel &b);

} // namespace tile::runtime

#endif
