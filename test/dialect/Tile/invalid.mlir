// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{dimension 'M' has minimum 8 above maximum 4}}
func.func private @f() attributes {d = #tile.dim<"M", 8, 4, opt = 8, multiple_of = 1>}

// -----

// expected-error @+1 {{dimension 'M' has opt 9 outside 1..8}}
func.func private @f() attributes {d = #tile.dim<"M", 1, 8, opt = 9, multiple_of = 1>}

// -----

// expected-error @+1 {{dimension 'M' needs a positive multiple_of, found 0}}
func.func private @f() attributes {d = #tile.dim<"M", 1, 8, opt = 8, multiple_of = 0>}

// -----

// expected-error @+1 {{grid has 0 arguments for 1 parameters}}
tile.kernel @k params [#tile.param<"x", in, align = 16>] dims [] constexprs [] grid { tile.yield } body { tile.return }

// -----

// expected-error @+1 {{parameter 'x' is a scalar but its argument has type '!tile.ptr<f32>'}}
tile.kernel @k params [#tile.param<"x", scalar, align = 1>] dims [] constexprs [] grid {
  ^bb0(%x: !tile.ptr<f32>):
    tile.yield
  } body {
  ^bb0(%x: !tile.ptr<f32>):
    tile.return
  }

// -----

tile.kernel @k params [] dims [] constexprs [] grid { tile.yield } body {
  // expected-error @+1 {{is not one of the kernel's dims}}
  %m = tile.dim #tile.dim<"M", 1, 8, opt = 8, multiple_of = 1>
  tile.return
}

// -----

tile.kernel @k params [] dims [] constexprs [] grid { tile.yield } body {
  // expected-error @+1 {{axis 0 is not one of the grid's 0 axes}}
  %i = tile.program_id 0
  tile.return
}

// -----

func.func @view(%p: !tile.ptr<f32>, %n: index) {
  // expected-error @+1 {{makes a view of 'f16' from a pointer to 'f32'}}
  %v = tile.view %p[%n] strides [%n] : !tile.ptr<f32> -> !tile.view<?xf16>
  return
}

// -----

func.func @view(%p: !tile.ptr<f32>, %n: index) {
  // expected-error @+1 {{needs 2 extents and strides, found 1 and 1}}
  %v = tile.view %p[%n] strides [%n] : !tile.ptr<f32> -> !tile.view<?x?xf32>
  return
}

// -----

func.func @subview(%v: !tile.view<?x?xf32>, %n: index) {
  // expected-error @+1 {{needs 1 indices and 0 lows and highs, found 0, 0 and 0}}
  %s = tile.subview %v indices [] lows [] highs [] {kinds = array<i32: 0, 1>} : !tile.view<?x?xf32> -> !tile.view<?xf32>
  return
}

// -----

func.func @permute(%v: !tile.view<?x?xf32>) {
  // expected-error @+1 {{needs a permutation of 0..1}}
  %s = tile.permute_view %v {permutation = array<i64: 0, 0>} : !tile.view<?x?xf32> -> !tile.view<?x?xf32>
  return
}

// -----

func.func @extent(%v: !tile.view<?x?xf32>) {
  // expected-error @+1 {{dimension 2 is not one of the view's 2}}
  %e = tile.extent %v 2 : !tile.view<?x?xf32>
  return
}

// -----

func.func @load(%v: !tile.view<?xf32>, %i: index, %pad: f32) {
  // expected-error @+1 {{accesses a tile of shape [8], found 'tensor<4xf32>'}}
  %t = tile.load %v[%i] pad %pad : f32 {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<4xf32>
  return
}

// -----

func.func @load(%v: !tile.view<?xf32>, %i: index, %pad: f16) {
  // expected-error @+1 {{needs a pad of type 'f32', found 'f16'}}
  %t = tile.load %v[%i] pad %pad : f16 {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @ends(%v: !tile.view<?xf32>, %i: index, %pad: f32) {
  // expected-error @+1 {{needs as many ends as has_end says, found 0}}
  %t = tile.load %v[%i] pad %pad : f32 {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: true>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<8xf32>
  return
}

// -----

func.func @store(%v: !tile.view<?xf32>, %i: index, %t: tensor<8xf32>, %m: tensor<4xi1>) {
  // expected-error @+1 {{needs a mask of the tile's shape, found 'tensor<4xi1>' for 'tensor<8xf32>'}}
  tile.store %t, %v[%i] mask %m : tensor<4xi1> {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : tensor<8xf32>, !tile.view<?xf32>
  return
}

// -----

func.func @inside(%v: !tile.view<?xf32>, %i: index) {
  // expected-error @+1 {{moves elements of type 'i1', found 'i8'}}
  %t = tile.inside %v[%i] {sizes = array<i64: 8>, steps = array<i64: 1>, has_end = array<i1: false>, in_bounds = array<i1: false>} : !tile.view<?xf32> -> tensor<8xi8>
  return
}

// -----

func.func @iota(%i: index) {
  // expected-error @+1 {{makes a tile of rank 1}}
  %t = tile.iota %i step 1 : tensor<4x4xindex>
  return
}

// -----

func.func @broadcast(%t: tensor<3xf32>) {
  // expected-error @+1 {{cannot broadcast 'tensor<3xf32>' to 'tensor<4xf32>'}}
  %b = tile.broadcast %t : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reshape(%t: tensor<3xf32>) {
  // expected-error @+1 {{cannot reshape 'tensor<3xf32>' to 'tensor<4xf32>'}}
  %b = tile.reshape %t : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @permute(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{permutes 'tensor<3x4xf32>' to another type than 'tensor<3x4xf32>'}}
  %b = tile.permute %t {permutation = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{along axis 1 of 'tensor<3x4xf32>' makes 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %b = tile.reduce sum %t axis 1 : tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @reduce(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{or needs integers, found 'f32'}}
  %b = tile.reduce or %t : tensor<3x4xf32> -> f32
  return
}

// -----

func.func @arg_reduce(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{axis 2 is not one of the tile's 2}}
  %b = tile.arg_reduce argmax %t axis 2 : tensor<3x4xf32> -> tensor<3xindex>
  return
}

// -----

func.func @dot(%a: tensor<4x8xf32>, %c: tensor<4x4xf32>) {
  // expected-error @+1 {{cannot multiply 'tensor<4x8xf32>' by 'tensor<4x8xf32>' into 'tensor<4x4xf32>'}}
  %b = tile.dot %a, %a, %c precision full : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
  return
}

// -----

func.func @scan(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{axis 2 is not one of the tile's 2}}
  %b = tile.scan %t axis 2 : tensor<3x4xf32> -> tensor<3x4xf32> {
  ^bb0(%left: f32, %right: f32):
    tile.scan_yield %left : f32
  }
  return
}

// -----

func.func @scan(%t: tensor<3x4xf32>, %u: tensor<4xf32>) {
  // expected-error @+1 {{needs tiles of one shape, found 'tensor<3x4xf32>' and 'tensor<4xf32>'}}
  %b:2 = tile.scan %t, %u axis 0 : tensor<3x4xf32>, tensor<4xf32> -> tensor<3x4xf32>, tensor<4xf32> {
  ^bb0(%a: f32, %c: f32, %d: f32, %e: f32):
    tile.scan_yield %a, %c : f32, f32
  }
  return
}

// -----

func.func @scan(%t: tensor<4xf32>) {
  // expected-error @+1 {{combines 1 left and 1 right scalars of the tiles' element types}}
  %b = tile.scan %t axis 0 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%left: f32, %right: i32):
    tile.scan_yield %left : f32
  }
  return
}

// -----

func.func @scan(%t: tensor<4xf32>) {
  // expected-error @+1 {{ends in tile.scan_yield of 1 scalars of the tiles' element types}}
  %b = tile.scan %t axis 0 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%left: f32, %right: f32):
    tile.scan_yield %left, %right : f32, f32
  }
  return
}

// -----

func.func @scan(%t: tensor<4xf32>) {
  %b = tile.scan %t axis 0 : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%left: f32, %right: f32):
    // expected-error @+1 {{is not element-wise, so it cannot stand in a scan}}
    %s = tile.reduce sum %t : tensor<4xf32> -> f32
    tile.scan_yield %s : f32
  }
  return
}

// -----

func.func @take(%t: tensor<3x4xf32>, %i: index) {
  // expected-error @+1 {{cannot take from 'tensor<3x4xf32>' along axis 0 at 'index' to make 'tensor<3xf32>'}}
  %b = tile.take %t[%i] axis 0 : tensor<3x4xf32>, index -> tensor<3xf32>
  return
}

// -----

func.func @take(%t: tensor<3x4xf32>, %i: tensor<2xi32>) {
  // expected-error @+1 {{cannot take from 'tensor<3x4xf32>' along axis 0 at 'tensor<2xi32>' to make 'tensor<2x4xf32>'}}
  %b = tile.take %t[%i] axis 0 : tensor<3x4xf32>, tensor<2xi32> -> tensor<2x4xf32>
  return
}

// -----

func.func @reduce_by(%t: tensor<3x4xf32>) {
  // expected-error @+1 {{along axis 1 of 'tensor<3x4xf32>' makes 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %b = tile.reduce_by %t axis 1 : tensor<3x4xf32> -> tensor<4xf32> {
  ^bb0(%left: f32, %right: f32):
    tile.scan_yield %left : f32
  }
  return
}

// -----

func.func @reduce_by(%t: tensor<3x4xf32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{needs tiles of one shape, found 'tensor<3x4xf32>' and 'tensor<3xf32>'}}
  %b:2 = tile.reduce_by %t, %u axis 0 : tensor<3x4xf32>, tensor<3xf32> -> tensor<4xf32>, f32 {
  ^bb0(%a: f32, %c: f32, %d: f32, %e: f32):
    tile.scan_yield %a, %c : f32, f32
  }
  return
}

// -----

func.func @reduce_by(%t: tensor<4xf32>) {
  // expected-error @+1 {{combines 1 left and 1 right scalars of the tiles' element types}}
  %b = tile.reduce_by %t axis 0 : tensor<4xf32> -> f32 {
  ^bb0(%left: f32):
    tile.scan_yield %left : f32
  }
  return
}

// -----

func.func @sort(%t: tensor<4xi32>) {
  // expected-error @+1 {{axis 1 is not one of the tile's 1}}
  %b = tile.sort %t axis 1 : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @sort(%t: tensor<4xi32>) {
  // expected-error @+1 {{of 'tensor<4xi32>' makes the same type, found 'tensor<8xi32>'}}
  %b = tile.sort %t axis 0 : tensor<4xi32> -> tensor<8xi32>
  return
}

// -----

func.func @sort(%t: tensor<4xi32>) {
  // expected-error @+1 {{orders 1 to 4 elements along axis 0, found 5}}
  %b = tile.sort %t axis 0 first 5 : tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @histogram(%t: tensor<4xi32>) {
  // expected-error @+1 {{makes a tile of rank 1, found 'tensor<2x2xi32>'}}
  %b = tile.histogram %t : tensor<4xi32> -> tensor<2x2xi32>
  return
}

// -----

func.func @lookup(%p: tensor<4xi32>) {
  // expected-error @+1 {{needs a dense table of rank 1, found 'tensor<1x2xf32>'}}
  %b = tile.lookup %p in dense<[[1.0, 2.0]]> : tensor<1x2xf32> : tensor<4xi32> -> tensor<4xf32>
  return
}

// -----

func.func @lookup(%p: tensor<4xi32>) {
  // expected-error @+1 {{of a table of 'f32' makes elements of that type, found 'tensor<4xf16>'}}
  %b = tile.lookup %p in dense<[1.0, 2.0]> : tensor<2xf32> : tensor<4xi32> -> tensor<4xf16>
  return
}

// -----

func.func @random(%p: tensor<4xi32>) {
  // expected-error @+1 {{takes a seed and positions of 64 bits, found 'tensor<4xi32>' and 'tensor<4xi32>'}}
  %b = tile.random_bits %p, %p : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return
}

// -----

func.func @random(%p: tensor<4xi64>) {
  // expected-error @+1 {{makes words of 32 bits, found 'tensor<4xi64>'}}
  %b = tile.random_bits %p, %p : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  return
}

// -----

func.func @round(%x: tensor<4xf32>) {
  // expected-error @+1 {{makes a float of 8 bits with a sign and a negative zero, found 'f16'}}
  %b = tile.round_float8 %x : tensor<4xf32> -> tensor<4xf16>
  return
}

// -----

func.func @round(%x: tensor<4xf8E5M2>) {
  // expected-error @+1 {{takes f16, bf16, f32 or f64, found 'f8E5M2'}}
  %b = tile.round_float8 %x : tensor<4xf8E5M2> -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @merge_parts(%t: tensor<4xf32>) {
  // expected-error @+1 {{merges 1 earlier and 1 later values of the states' types}}
  %m = tile.merge_parts %t : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.merge_yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @merge_parts(%t: tensor<4xf32>, %f: f32) {
  // expected-error @+1 {{ends in tile.merge_yield of 1 values of the states' types}}
  %m = tile.merge_parts %t : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    tile.merge_yield %f : f32
  }
  return
}

// -----

func.func @merge_parts(%t: tensor<4xf32>) {
  // expected-error @+1 {{makes a result of the same type for each of one or more states, found 1 and 2}}
  %m:2 = tile.merge_parts %t : tensor<4xf32> -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    tile.merge_yield %a : tensor<4xf32>
  }
  return
}
