// One use of a number and of what is extended from it: the rest reads the extended one's low half.
#ifndef TILE_CODEGEN_TRUNCATEEXTENDED_H
#define TILE_CODEGEN_TRUNCATEEXTENDED_H

namespace llvm {
class FunctionPass;
}

namespace tile {

/// Where a number of 32 bits and the 64 that are extended from it both leave their block, LLVM's
/// preparation for instruction selection lets the other blocks read the low half of the 64, which
/// ptxas has for nothing. It rewrites one use, then goes over the whole function again: kernels of
/// a few columns took 36 rounds, a quarter of the time of compiling. This makes it all at once,
/// behind what would fold the low half back and ahead of that pass, which finds nothing left:
///
///   entry:  %wide = zext i32 %n to i64        other:  %low = trunc i64 %wide to i32
///           br ...                                    ... %low in place of %n
llvm::FunctionPass *createTruncateExtendedPass();

} // namespace tile

#endif
