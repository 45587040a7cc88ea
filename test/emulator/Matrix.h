// Elements of matrices that the tensor cores multiply.
#ifndef TILE_TEST_EMULATOR_MATRIX_H
#define TILE_TEST_EMULATOR_MATRIX_H

#include "test/emulator/Decoder.h"

namespace emu {

enum class Element : uint8_t { Half, Brain, Tf32, E4m3, E5m2, S8, U8, Double };
/// By the name of its type; false where it is none.
bool elementOf(const std::string &type, Element &element);
unsigned bitsOfElement(Element element);
double elementValue(Element element, uint64_t bits);

} // namespace emu

#endif
