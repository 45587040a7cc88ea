// Binaries that pass the runtime's checks of structure, for its tests.
#ifndef TILE_TEST_UNIT_RUNTIME_CUBIN_H
#define TILE_TEST_UNIT_RUNTIME_CUBIN_H

#include <cstring>
#include <elf.h>
#include <string>

namespace tile::runtime::testing {

/// The smallest whole cubin: an ELF header for CUDA and one section.
inline std::string cubin(const char *content = "sixteen bytes...") {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_machine = 190;
  header.e_shoff = sizeof header + 16;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 1;
  Elf64_Shdr section{};
  section.sh_type = SHT_PROGBITS;
  section.sh_offset = sizeof header;
  section.sh_size = 16;
  std::string bytes(reinterpret_cast<char *>(&header), sizeof header);
  bytes.append(content, 16);
  return bytes.append(reinterpret_cast<char *>(&section), sizeof section);
}

} // namespace tile::runtime::testing

#endif
