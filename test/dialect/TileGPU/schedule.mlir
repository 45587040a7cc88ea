// The text of a schedule, and those that say what cannot be.
// RUN: tile-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK: plain = #tile_gpu.schedule<[(stage = 0, order = 1), (stage = 0, order = 0, flight = 1)]>
// CHECK-SAME: words = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)], vectors_first, scale_under, turns, peek>
// CHECK-SAME: xapart = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0)], apart, turns>
// CHECK-SAME: xparts = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0, parts = 4)]>
module attributes {test.plain = #tile_gpu.schedule<[(stage = 0, order = 1), (stage = 0, order = 0, flight = 1)]>,
  test.words = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)], peek, turns, scale_under, vectors_first>,
  test.xapart = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1, flight = 0)], turns, apart>,
  test.xparts = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0, parts = 4)]>} {}

// -----

// expected-error @below {{unknown word 'loud' of a schedule; there are vectors_first, scale_under, apart, turns, peek}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0)], loud>} {}

// -----

// expected-error @below {{a schedule has an entry for each product of the loop, found none}}
module attributes {test.s = #tile_gpu.schedule<[]>} {}

// -----

// expected-error @below {{an order is the number of each product once, from 0 to 2 exclusive, found 1}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 1), (stage = 0, order = 1)]>} {}

// -----

// expected-error @below {{a product's result is there in the trip after its own at the latest, found stage 1 and flight 1}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 1, order = 0, flight = 1)]>} {}

// -----

// expected-error @below {{a product of stage 1 needs a flight: nothing runs beside it if it is waited for at once}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 1, order = 0)]>} {}

// -----

// expected-error @below {{scale_under speaks of products of stage 1, and there is none}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0)], scale_under>} {}

// -----

// expected-error @below {{apart speaks of several products, each in flight until its result is used}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 0, order = 1)], apart>} {}

// -----

// expected-error @below {{apart speaks of several products, each in flight until its result is used}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0)], apart>} {}

// -----

// expected-error @below {{peek needs turns: alone, a warpgroup waits for its products first}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0)], peek>} {}

// -----

// expected-error @below {{parts are of stage 0 and in flight, each till the next one is issued, found parts = 2 of stage 0 without a flight}}
module attributes {test.s = #tile_gpu.schedule<[(stage = 0, order = 0, parts = 2)]>} {}
