// Recognises a device binary and checks that it is whole, before the driver sees it: the driver is
// told no size.
#ifndef TILE_FORMATS_IMAGE_H
#define TILE_FORMATS_IMAGE_H

#include "manifest/Error.h"

#include <string>

namespace tile::runtime {

enum class ImageKind : uint8_t { Cubin, Ptx };

/// Tells cubin from PTX and checks that every part of a cubin lies within the file. `name` stands
/// in messages.
Error inspectImage(const std::string &image, const std::string &name, ImageKind &kind);

/// Whether a binary of that kind for `target` runs on a device of that compute capability.
bool runsOn(ImageKind kind, const std::string &target, int major, int minor);

} // namespace tile::runtime

#endif
