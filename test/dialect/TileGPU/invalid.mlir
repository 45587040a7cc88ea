// RUN: tile-opt %s --split-input-file --verify-diagnostics

#blocked = #tile_gpu.linear<shape = [4], register = [[1], [2]], lane = [], warp = []>
#wide = #tile_gpu.linear<shape = [8], register = [[1], [2], [4]], lane = [], warp = []>
func.func @shapes(%a: tensor<4xf32, #blocked>) {
  // expected-error @+1 {{changes the layout only}}
  %b = tile_gpu.convert_layout %a : tensor<4xf32, #blocked> -> tensor<8xf32, #wide>
  return
}

// -----

// expected-error @+1 {{swizzle must be 0, 32, 64 or 128 bytes, found 48}}
func.func @swizzle(%a: !tile_gpu.memdesc<4x4xf32, #tile_gpu.shared<order = [1, 0], swizzle = 48>>) {
  return
}

// -----

func.func @permute(%a: !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>>) {
  // expected-error @+1 {{to another type than}}
  %b = tile_gpu.memdesc_permute %a {permutation = array<i64: 1, 0>} : !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>> -> !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [0, 1], swizzle = 0>>
  return
}

// -----

#rows = #tile_gpu.linear<shape = [2, 64], register = [[0, 1], [1, 0]], lane = [[0, 2], [0, 4], [0, 8], [0, 16], [0, 32]], warp = []>
func.func @shift(%t: tensor<2x64xf32, #rows>, %e: tensor<2x1xf32, "foreign">) {
  // expected-error @+1 {{needs an edge in the layout of blocks that threads or warps hold}}
  %b = tile_gpu.shift %t, %e {dim = 1, offset = -1} : tensor<2x64xf32, #rows>, tensor<2x1xf32, "foreign">
  return
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @extent(%a: !tile_gpu.memdesc<64x64xf16, #s>) {
  // Along rows the whole has 128 of them.
  // expected-error @+1 {{joins tiles whose bytes follow each other}}
  %b = tile_gpu.memdesc_join %a, %a {dim = 0 : i64} : !tile_gpu.memdesc<64x64xf16, #s>, !tile_gpu.memdesc<64x64xf16, #s> -> !tile_gpu.memdesc<64x128xf16, #s>
  return
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @panels(%a: !tile_gpu.memdesc<64x128xf16, #s>) {
  // Each has two panels of 64 rows, the whole two of 128.
  // expected-error @+1 {{joins tiles whose bytes follow each other}}
  %b = tile_gpu.memdesc_join %a, %a {dim = 0 : i64} : !tile_gpu.memdesc<64x128xf16, #s>, !tile_gpu.memdesc<64x128xf16, #s> -> !tile_gpu.memdesc<128x128xf16, #s>
  return
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @strangers(%a: !tile_gpu.memdesc<64x64xf16, #s>, %b: !tile_gpu.memdesc<64x64xf16, #s>) {
  // expected-error @+1 {{needs tiles that are fetched, or neighbours in the slot of a ring}}
  %c = tile_gpu.memdesc_join %a, %b {dim = 1 : i64} : !tile_gpu.memdesc<64x64xf16, #s>, !tile_gpu.memdesc<64x64xf16, #s> -> !tile_gpu.memdesc<64x128xf16, #s>
  return
}

// -----

#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @order(%r: !tile_gpu.ring<2, <64x64xf16, #s>, <64x64xf16, #s>>) {
  %t:2 = tile_gpu.ring_wait %r : <2, <64x64xf16, #s>, <64x64xf16, #s>> -> !tile_gpu.memdesc<64x64xf16, #s>, !tile_gpu.memdesc<64x64xf16, #s>
  // expected-error @+1 {{needs tiles that are fetched, or neighbours in the slot of a ring}}
  %c = tile_gpu.memdesc_join %t#1, %t#0 {dim = 1 : i64} : !tile_gpu.memdesc<64x64xf16, #s>, !tile_gpu.memdesc<64x64xf16, #s> -> !tile_gpu.memdesc<64x128xf16, #s>
  return
}

// -----

#blocked = #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [], warp = []>
func.func @load(%a: !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>>) {
  // expected-error @+1 {{needs the same shape and element type on both sides}}
  %b = tile_gpu.local_load %a : !tile_gpu.memdesc<4x8xf32, #tile_gpu.shared<order = [1, 0], swizzle = 0>> -> tensor<4x4xf32, #blocked>
  return
}

// -----

#blocked = #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [], warp = []>
func.func @alloc(%a: tensor<4x4xf32, #blocked>) {
  // expected-error @+1 {{needs the same shape and element type on both sides}}
  %b = tile_gpu.local_alloc %a : tensor<4x4xf32, #blocked> -> !tile_gpu.memdesc<4x4xf16, #tile_gpu.shared<order = [1, 0], swizzle = 0>>
  return
}

// -----

#blocked = #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [], warp = []>
#wide = #tile_gpu.linear<shape = [4, 8], register = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], lane = [], warp = []>
func.func @mma(%a: tensor<4x8xf16, #wide>, %c: tensor<4x4xf32, #blocked>) {
  // expected-error @+1 {{cannot multiply [4, 8] by [4, 8] into [4, 4]}}
  %d = tile_gpu.mma %a, %a, %c : tensor<4x8xf16, #wide>, tensor<4x8xf16, #wide>, tensor<4x4xf32, #blocked>
  return
}

// -----

#blocked = #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2], [1, 0], [2, 0]], lane = [], warp = []>
#plain = #tile_gpu.shared<order = [1, 0], swizzle = 0>
func.func @fma(%a: !tile_gpu.memdesc<4x8xf32, #plain>, %c: tensor<4x4xf32, #blocked>) {
  // expected-error @+1 {{cannot multiply [4, 8] by [4, 8] into [4, 4]}}
  %d = tile_gpu.fma_dot %a, %a, %c : !tile_gpu.memdesc<4x8xf32, #plain>, !tile_gpu.memdesc<4x8xf32, #plain>, tensor<4x4xf32, #blocked>
  return
}

// -----

// expected-error @+1 {{a basis needs 2 coordinates}}
func.func @basis(%a: tensor<4x4xf32, #tile_gpu.linear<shape = [4, 4], register = [[1]], lane = [], warp = []>>) {
  return
}

// -----

#panels = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @coordinates(%x: index) {
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
  // expected-error @+1 {{needs 2 coordinates, found 1}}
  %m = tile_gpu.tma_fetch %d [%x] : !tile_gpu.memdesc<128x64xf16, #panels>
  return
}

// -----

#panels = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @places(%y: index) {
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128>
  %x = arith.constant 4 : index
  // expected-error @+1 {{needs a first coordinate that is a multiple of 8 elements (16 bytes), found 4}}
  %m = tile_gpu.tma_fetch %d [%x, %y] : !tile_gpu.memdesc<128x64xf16, #panels>
  return
}

// -----

// What is fetched may begin before the tensor, what is stored must not; a branch may never be taken.
#panels = #tile_gpu.shared<order = [1, 0], swizzle = 128>
#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 32], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
func.func @before(%y: index, %t: tensor<128x64xf32, #rows>, %c: i1) {
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [32, 128], swizzle = 128>
  %x = arith.constant -32 : index
  %m = tile_gpu.tma_fetch %d [%x, %y] : !tile_gpu.memdesc<128x64xf32, #panels>
  scf.if %c {
    tile_gpu.tma_store %t, %d [%x, %y] {columns = 64 : i64} : tensor<128x64xf32, #rows>
  }
  // expected-error @+1 {{needs coordinates that are not negative, found -32}}
  tile_gpu.tma_store %t, %d [%x, %y] {columns = 64 : i64} : tensor<128x64xf32, #rows>
  return
}

// -----

#panels = #tile_gpu.shared<order = [1, 0], swizzle = 128>
func.func @clear(%m: !tile_gpu.memdesc<128x64xf16, #panels>, %x: index) {
  // expected-error @+1 {{has no dimension 2}}
  tile_gpu.clear_from %m, %x {dim = 2 : i64} : !tile_gpu.memdesc<128x64xf16, #panels>
  return
}

// -----

func.func @parts(%s: tensor<16x16xf32>, %tile: index) {
  %one = arith.constant 1 : index
  // expected-error @+1 {{needs one or more sums of two or more parts, found 1}}
  %last = tile_gpu.part_arrive %s at %tile, %tile of %one : tensor<16x16xf32>
  return
}

// -----

func.func @states(%s: tensor<16x16xf32>, %record: index) {
  // expected-error @+1 {{makes a result of the same type for each of one or more states, found 1 and 2}}
  %t:2 = tile_gpu.part_load %s at %record : tensor<16x16xf32> -> tensor<16x16xf32>, tensor<16x16xf32>
  return
}

// -----

func.func @parts(%s: tensor<16x16xf32>, %tile: index) {
  // expected-error @+1 {{makes a total of the same type, and takes a kind, for each of its 1 sums}}
  %u = tile_gpu.part_combine %s at %tile of 2 {kinds = array<i32: 0, 0>} : tensor<16x16xf32> -> tensor<16x16xf32>
  return
}

// -----

func.func @read(%place: i32, %part: index) {
  // expected-error @+1 {{names a dimension, or -1, for each of one or more slices, found 1 for 1}}
  %u = tile_gpu.part_read 0 of 2 at %place slice %part {dims = array<i64: 2>} : tensor<16x16xf32>
  return
}

// -----

func.func @three(%place: i32, %part: index) {
  // expected-error @+1 {{reads one part of a power of two, found part 0 of 3}}
  %u = tile_gpu.part_read 0 of 3 at %place slice %part {dims = array<i64: 0>} : tensor<16x16xf32>
  return
}

// -----

#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#part = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @part(%m: !tile_gpu.memdesc<16x16xf16, #shared>) {
  // expected-error @+1 {{at multiples of its extents}}
  %a = tile_gpu.local_load %m at [0, 4] : !tile_gpu.memdesc<16x16xf16, #shared> -> tensor<16x8xf16, #part>
  return
}

// -----

#part = #tile_gpu.linear<shape = [16, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
#whole = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = []>
func.func @part(%w: tensor<16x16xf16, #whole>) {
  // expected-error @+1 {{at multiples of its extents}}
  %a = tile_gpu.extract_part %w at [0, 16] : tensor<16x16xf16, #whole> -> tensor<16x8xf16, #part>
  return
}

// -----

#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1]], lane = [[0, 2], [0, 4], [0, 8], [1, 0], [2, 0]], warp = [[4, 0], [8, 0]]>
func.func @fill(%v: !tile.view<?x?xf16>, %x: index, %m: !tile_gpu.memdesc<16x16xf16, #shared>, %full: !tile_gpu.mbarrier, %missing: i1) {
  tile_gpu.ring_fill %full when %missing {
    // expected-error @+1 {{in a ring_fill has neither mask nor positions, and a layout of at most 2 warps}}
    tile_gpu.async_copy %v[%x, %x] into %m {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
      in_bounds = array<i1: false, false>, tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>}
      : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  }
  return
}

// -----

#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
func.func @copy(%v: !tile.view<?x?xf16>, %x: index, %m: !tile_gpu.memdesc<16x16xf16, #shared>) {
  // expected-error @+1 {{needs one start, size, step, has_end and in_bounds for each of the view's 2 dimensions}}
  tile_gpu.async_copy %v[%x] into %m {sizes = array<i64: 16>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>,
    tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>} : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  return
}

// -----

#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
func.func @part(%v: !tile.view<?x?xf16>, %x: index, %m: !tile_gpu.memdesc<16x16xf16, #shared>) {
  // expected-error @+1 {{part needs [i, n] with 0 <= i < n}}
  tile_gpu.async_copy %v[%x, %x] into %m {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
    in_bounds = array<i1: false, false>, tile = tensor<16x16xf16, #rows>, stored = tensor<16x16xf16, #rows>, part = array<i64: 2, 2>}
    : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  return
}

// -----

#rows = #tile_gpu.linear<shape = [4, 4], register = [[0, 1], [0, 2]], lane = [], warp = [[1, 0], [2, 0]]>
#line = #tile_gpu.linear<shape = [4], register = [[1], [2]], lane = [], warp = [[0], [0]]>
func.func @warp_reduce(%a: tensor<4x4xf32, #rows>) {
  // expected-error @+1 {{does not leave}}
  %b = tile_gpu.warp_reduce sum %a axis 0 : tensor<4x4xf32, #rows> -> tensor<4xf32, #line>
  return
}

// -----

#blocked = #tile_gpu.linear<shape = [4], register = [[1], [2]], lane = [], warp = []>
func.func @none(%a: tensor<4xf32, #blocked>) {
  // expected-error @+1 {{must be tile in registers with a layout of its shape, but got 'tensor<4xf32>'}}
  %b = tile_gpu.convert_layout %a : tensor<4xf32, #blocked> -> tensor<4xf32>
  return
}

// -----

#line = #tile_gpu.linear<shape = [4], register = [], lane = [], warp = [[1], [2]]>
func.func @join_warps(%a: tensor<4xf32, #line>) {
  // expected-error @+1 {{takes a kind and an axis, for each of one or more parts}}
  %b = tile_gpu.join_warps %a {kinds = array<i32: 0, 1>, axes = array<i64: 0>} : (tensor<4xf32, #line>) -> f32
  return
}

// -----

// expected-error @+1 {{expected extents of a box from 1 to 256, found [64, 0]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 0], swizzle = 128>

// -----

// expected-error @+1 {{expected one to 5 dimensions, each with the extent of its box, found order [1, 0] and box [64]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64], swizzle = 128>

// -----

// expected-error @+1 {{expected dimensions of a tensor, found [-1]}}
#map = #tile_gpu.tensor_map<param = 0, order = [-1], box = [64], swizzle = 128>

// -----

// expected-error @+1 {{expected the number of a parameter, found -1}}
#map = #tile_gpu.tensor_map<param = -1, order = [0], box = [64], swizzle = 128>

// -----

// expected-error @+1 {{swizzle must be 0, 32, 64 or 128 bytes, found 16}}
#map = #tile_gpu.tensor_map<param = 0, order = [0], box = [64], swizzle = 16>

// -----

// expected-error @+1 {{expected a step for each dimension, 1 for the fastest, found [2, 1]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128, steps = [2, 1]>

// -----

// expected-error @+1 {{expected a step for each dimension, 1 for the fastest, found [1]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 64], swizzle = 128, steps = [1]>

// -----

// expected-error @+1 {{expected steps from 1 to 8, and boxes that reach over at most 256 positions, found [1, 9]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 8], swizzle = 128, steps = [1, 9]>

// -----

// expected-error @+1 {{expected steps from 1 to 8, and boxes that reach over at most 256 positions, found [1, 4]}}
#map = #tile_gpu.tensor_map<param = 0, order = [1, 0], box = [64, 128], swizzle = 128, steps = [1, 4]>

// -----

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 32], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
func.func @folded(%x: index, %t: tensor<128x64xf32, #rows>) {
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [2, 1, 0], box = [32, 16, 8], swizzle = 128>
  // expected-error @+1 {{folds dimensions of the map that make up the tile's rows, found [16, 4]}}
  tile_gpu.tma_store %t, %d [%x, %x, %x] {columns = 64 : i64, folded = array<i64: 16, 4>} : tensor<128x64xf32, #rows>
  return
}

// -----

#rows = #tile_gpu.linear<shape = [128, 64], register = [[0, 32], [4, 0], [8, 0], [16, 0], [32, 0], [64, 0]], lane = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], warp = [[1, 0], [2, 0]]>
func.func @oddFolded(%x: index, %t: tensor<128x64xf32, #rows>) {
  %d = tile_gpu.descriptor #tile_gpu.tensor_map<param = 0, order = [2, 1, 0], box = [32, 16, 8], swizzle = 128>
  // expected-error @+1 {{folds dimensions whose extents are powers of two, found [12, 8]}}
  tile_gpu.tma_store %t, %d [%x, %x, %x] {columns = 64 : i64, folded = array<i64: 12, 8>} : tensor<128x64xf32, #rows>
  return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 8], register = [[0, 1], [8, 0]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 64>
func.func @part(%a: tensor<64x16xf16, #a>, %b: !tile_gpu.memdesc<32x8xf16, #sb>, %c: tensor<64x8xf16, #acc>) {
  // expected-error @below {{multiplies a part in registers by rows of b from a multiple of the part's extent along K}}
  %d = tile_gpu.wgmma %a, %b from 32, %c : tensor<64x16xf16, #a>, !tile_gpu.memdesc<32x8xf16, #sb>, tensor<64x8xf16, #acc>
  return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#a = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#sb = #tile_gpu.shared<order = [0, 1], swizzle = 32>
func.func @columns(%a: tensor<64x16xf16, #a>, %b: !tile_gpu.memdesc<16x32xf16, #sb>, %c: tensor<64x16xf32, #acc>) {
  %d = tile_gpu.wgmma %a, %b column 16, %c : tensor<64x16xf16, #a>, !tile_gpu.memdesc<16x32xf16, #sb>, tensor<64x16xf32, #acc>
  // expected-error @below {{multiplies by columns of b from a multiple of the accumulator's columns}}
  %e = tile_gpu.wgmma %a, %b column 8, %c : tensor<64x16xf16, #a>, !tile_gpu.memdesc<16x32xf16, #sb>, tensor<64x16xf32, #acc>
  return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 16], register = [[0, 1], [8, 0], [0, 8]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
func.func @join(%a: tensor<64x16xf32, #acc>) {
  // expected-error @below {{puts parts of one type side by side along a dimension, found 2 of}}
  %b = tile_gpu.join_parts %a, %a {dim = 0 : i64} : tensor<64x16xf32, #acc>, tensor<64x16xf32, #acc> -> tensor<64x16xf32, #acc>
  return
}

// -----

// A copy without its tiles is what is wrong, not the fill around it.
#shared = #tile_gpu.shared<order = [1, 0], swizzle = 32>
#rows = #tile_gpu.linear<shape = [16, 16], register = [[0, 1], [0, 2], [0, 4]], lane = [[0, 8], [1, 0], [2, 0], [4, 0], [8, 0]], warp = []>
func.func @fill(%full: !tile_gpu.mbarrier, %when: i1, %v: !tile.view<?x?xf16>, %x: index, %m: !tile_gpu.memdesc<16x16xf16, #shared>) {
  tile_gpu.ring_fill %full when %when {
    // expected-error @+1 {{requires attribute 'stored'}}
    tile_gpu.async_copy %v[%x, %x] into %m {sizes = array<i64: 16, 16>, steps = array<i64: 1, 1>, has_end = array<i1: false, false>,
      in_bounds = array<i1: false, false>, tile = tensor<16x16xf16, #rows>} : !tile.view<?x?xf16>, !tile_gpu.memdesc<16x16xf16, #shared>
  }
  return
}

// -----

#rows = #tile_gpu.linear<shape = [256], register = [[1], [2], [4]], lane = [[8], [16], [32], [64], [128]], warp = []>
func.func @private(%m: !tile_gpu.memdesc<64xi32, #tile_gpu.shared<order = [0], swizzle = 0>>) {
  // expected-error @+1 {{needs memory of 512 bytes, whole words of each thread}}
  %a = tile_gpu.private_load %m : !tile_gpu.memdesc<64xi32, #tile_gpu.shared<order = [0], swizzle = 0>> -> tensor<256xf16, #rows>
  return
}
