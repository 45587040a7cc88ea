// A command line's statements on a kernel's arguments: items of --arg and --variant, before they
// are matched to a kernel.
#ifndef TILE_FRONTEND_SEMA_ARGITEM_H
#define TILE_FRONTEND_SEMA_ARGITEM_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tile {

/// One item. What its name stands for only the kernel says.
struct ArgItem {
  enum class Kind {
    Range,    ///< M=1..=4096:2048: both bounds belong to it; `opt` may be missing
    Value,    ///< K=1024, BM=64, T=f16: fixes a dimension, or binds a compile-time parameter
    Multiple, ///< K%64
    Align,    ///< align(a)=128, in bytes
    Tensor    ///< x=f16[M,1024]
  };
  Kind kind = Kind::Value;
  std::string name;
  std::string text; ///< as written, for messages
  int64_t min = 0, max = 0, number = 0;
  std::optional<int64_t> opt;
  std::string value;             ///< of a Value, as written; the dtype of a Tensor
  std::vector<std::string> dims; ///< of a Tensor, as written
};

/// Reads one item; none, with what is expected in `error`, where it is none.
std::optional<ArgItem> parseArgItem(llvm::StringRef text, std::string &error);

/// Splits at the commas that stand in no bracket.
std::vector<llvm::StringRef> splitItems(llvm::StringRef text);

/// A variant that a command line asks for: `decode:M=1..=16:8,BM=16`.
struct VariantRequest {
  std::string name;
  std::vector<ArgItem> items;
};

/// Reads one variant; its name is "v" and `number` where it has none. None, with the reason in
/// `error`.
std::optional<VariantRequest> parseVariant(llvm::StringRef text, size_t number, std::string &error);

/// A name without what symbols cannot hold: "M=1..=16" gives "M_1_16".
std::string symbolPart(llvm::StringRef text);

} // namespace tile

#endif
