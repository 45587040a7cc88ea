// Schedules that a loop cannot have.
// RUN: tile-opt %s --allow-unregistered-dialect --split-input-file --verify-diagnostics \
// RUN:   --tile-gpu-apply-schedule

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    // expected-error @below {{expected a schedule of the loop's 1 products by wgmma, found one of 2}}
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %a = tile_gpu.wgmma %k, %k, %x : !m, !m, !acc
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0), (stage = 0, order = 1)]>}
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    // expected-error @below {{cannot realise the schedule: products of stage 1 are issued behind the last one of stage 0 in flight}}
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %k, %k, %zero : !m, !m, !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %a = tile_gpu.wgmma %p, %v, %x : !p, !m, !acc
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 1, order = 0, flight = 0), (stage = 0, order = 1, flight = 0)]>}
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    // expected-error @below {{cannot realise the schedule: products of stage 1 need one of stage 0 before them, of flight 0}}
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %k, %k, %zero : !m, !m, !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %a = tile_gpu.wgmma %p, %v, %x : !p, !m, !acc
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0), (stage = 1, order = 1, flight = 0)]>}
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    // expected-error @below {{cannot realise the schedule: a later product is not added to a variable of the loop that is only scaled}}
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %k, %k, %zero : !m, !m, !acc
      %e = arith.addf %s, %x : !acc
      %p = arith.truncf %e : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %a = tile_gpu.wgmma %p, %v, %x : !p, !m, !acc
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 0), (stage = 1, order = 1, flight = 0)]>}
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [#tile.param<"q", in, align = 16>, #tile.param<"n", scalar, align = 1>] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64} grid {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    tile.yield
  } body {
  ^bb0(%q: !tile.ptr<f16>, %n: index):
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant dense<0.0> : !acc
    %d = tile_gpu.descriptor <param = 0, order = [1, 0], box = [64, 64], swizzle = 128>
    // expected-error @below {{cannot realise the schedule: the product of order 1 is needed before that of order 0 is issued}}
    %o = scf.for %i = %c0 to %n step %c64 iter_args(%x = %zero) -> (!acc) {
      %k = tile_gpu.tma_fetch %d [%c0, %i] : !m
      %s = tile_gpu.wgmma %k, %k, %zero : !m, !m, !acc
      %p = arith.truncf %s : !acc to !p
      %v = tile_gpu.tma_fetch %d [%c64, %i] : !m
      %a = tile_gpu.wgmma %p, %v, %x : !p, !m, !acc
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 1, flight = 0), (stage = 0, order = 0, flight = 0)]>}
    "test.use"(%o) : (!acc) -> ()
    tile.return
  }

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<1, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    // expected-error @below {{cannot realise the schedule: an operand does not lie in a ring that is filled late enough}}
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
      %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<1, !m, !m> -> !m, !m
      %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<1, !m, !m>
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0, flight = 1)]>}
    %t = arith.addf %r, %r : !acc
  }
  tile.return
}

// -----

#acc = #tile_gpu.linear<shape = [64, 64], register = [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane = [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp = [[16, 0], [32, 0]]>
#s = #tile_gpu.shared<order = [1, 0], swizzle = 128>
!m = !tile_gpu.memdesc<64x64xf16, #s>
!acc = tensor<64x64xf32, #acc>
!p = tensor<64x64xf16, #acc>
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i64, tile_gpu.producer_threads = 128 : i64} grid { tile.yield } body {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant dense<0.0> : !acc
  %ring = tile_gpu.ring : !tile_gpu.ring<2, !m, !m>
  tile_gpu.warp_specialize producer {
  } consumer {
    // expected-error @below {{cannot realise the schedule: none of its products is in flight while the warpgroup computes}}
    %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%x = %zero) -> (!acc) {
      %k, %v = tile_gpu.ring_wait %ring : !tile_gpu.ring<2, !m, !m> -> !m, !m
      %a = tile_gpu.wgmma %k, %v, %x : !m, !m, !acc
      tile_gpu.ring_release %ring : !tile_gpu.ring<2, !m, !m>
      scf.yield %a : !acc
    } {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0)], turns>}
    %t = arith.addf %r, %r : !acc
  }
  tile.return
}
