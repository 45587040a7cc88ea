// Structure checks of cubins (ELF) and PTX.
#include "formats/Image.h"

#include "target/Target.h"

#include <cstring>
#include <elf.h>

namespace tile::runtime {

/// Every offset that the driver follows is checked against the file's end: the driver itself reads
/// past it. Contents are not looked at.
static Error checkElf(const std::string &image, const std::string &name) {
  auto truncated = [&](const char *what) {
    return Error(TILE_ERROR_BINARY, "'" + name + "' is truncated or corrupt: its " + what +
                                        " reach past the end of its " +
                                        std::to_string(image.size()) + " bytes; compile it again");
  };
  // Neither sum can wrap around: sizes are subtracted from what is left.
  auto inside = [&](uint64_t offset, uint64_t size) {
    return offset <= image.size() && size <= image.size() - offset;
  };
  Elf64_Ehdr header;
  if (!inside(0, sizeof header))
    return truncated("headers");
  std::memcpy(&header, image.data(), sizeof header);
  constexpr uint16_t machineCuda = 190;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != machineCuda)
    return Error(TILE_ERROR_BINARY,
                 "'" + name +
                     "' is an ELF file but no 64-bit CUDA binary; a shared object for the CPU "
                     "cannot be loaded here, run it with 'tilec run --device cpu'");
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 ||
      !inside(header.e_shoff, uint64_t(header.e_shnum) * sizeof(Elf64_Shdr)))
    return truncated("section headers");
  // Copied out: headers in a string need not be aligned.
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image.data() + header.e_shoff + i * sizeof section, sizeof section);
    // Sections without bytes in the file (of shared memory, for one) may claim any place.
    if (section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL &&
        !inside(section.sh_offset, section.sh_size))
      return truncated("sections");
  }
  if (header.e_phnum && (header.e_phentsize != sizeof(Elf64_Phdr) ||
                         !inside(header.e_phoff, uint64_t(header.e_phnum) * sizeof(Elf64_Phdr))))
    return truncated("program headers");
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, image.data() + header.e_phoff + i * sizeof segment, sizeof segment);
    if (!inside(segment.p_offset, segment.p_filesz))
      return truncated("segments");
  }
  return {};
}

/// By contents, not by the name's ending.
Error inspectImage(const std::string &image, const std::string &name, ImageKind &kind) {
  if (image.empty())
    return Error(TILE_ERROR_BINARY, "'" + name + "' is empty, expected a cubin or PTX");
  if (image.compare(0, SELFMAG, ELFMAG) == 0) {
    kind = ImageKind::Cubin;
    return checkElf(image, name);
  }
  // PTX is text, and its first directive is .version.
  kind = ImageKind::Ptx;
  if (image.find('\0') != std::string::npos || image.find(".version") == std::string::npos)
    return Error(TILE_ERROR_BINARY, "'" + name + "' is neither a cubin nor PTX");
  return {};
}

bool runsOn(ImageKind kind, const std::string &target, int major, int minor) {
  GPUName name;
  if (!parseGPUName(target, name))
    return false;
  int targetMajor = int(name.major), targetMinor = int(name.minor);
  // sm_90a code runs on 9.0 alone. sm_90 code runs on every 9.x from 9.0 on; its PTX, which the
  // driver compiles, on later ones as well.
  if (name.suffix == 'a')
    return major == targetMajor && minor == targetMinor;
  bool newer = major > targetMajor || (major == targetMajor && minor >= targetMinor);
  return newer && (major == targetMajor || (kind == ImageKind::Ptx && name.suffix == '\0'));
}

} // namespace tile::runtime
