// RUN: tile-opt %s --split-input-file --verify-diagnostics
// Layouts that no compiler makes were accepted, and ended the passes that computed with them.

// expected-error @+1 {{a basis lies within the extents, found coordinate 9223372036854775807 of 8}}
#far = #tile_gpu.linear<shape = [8], register = [[9223372036854775807]], lane = [], warp = []>

// -----

// expected-error @+1 {{a basis lies within the extents, found coordinate -1 of 8}}
#negative = #tile_gpu.linear<shape = [8], register = [[-1]], lane = [], warp = []>

// -----

// expected-error @+1 {{a layout's extents are powers of two, of at most 2^20 elements together, found [6]}}
#six = #tile_gpu.linear<shape = [6], register = [[1], [2]], lane = [], warp = []>

// -----

// expected-error @+1 {{a layout's extents are powers of two, of at most 2^20 elements together, found [1048576, 2]}}
#large = #tile_gpu.linear<shape = [1048576, 2], register = [], lane = [], warp = []>

// -----

// expected-error @+1 {{a layout has 0 to 5 bases of lanes, found 6}}
#lanes = #tile_gpu.linear<shape = [2], register = [], lane = [[1], [0], [0], [0], [0], [0]], warp = []>

// -----

// expected-error @+1 {{a layout gives every element of the tile a place}}
#gap = #tile_gpu.linear<shape = [8], register = [[1], [4]], lane = [], warp = []>

// -----

// expected-error @+1 {{an order names every dimension once, found [1, 4294967296]}}
#order = #tile_gpu.shared<order = [1, 4294967296], swizzle = 128>

// -----

#rows = #tile_gpu.shared<order = [0], swizzle = 0>
// expected-error @+1 {{a tile in shared memory has extents that are powers of two, each named by its order, found [8, 8]}}
func.func private @f(!tile_gpu.memdesc<8x8xf32, #rows>)
