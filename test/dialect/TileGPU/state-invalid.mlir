// What passes leave for each other is checked: a value of another kind, another place, a name that
// nobody reads.
// RUN: tile-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected 'tile_gpu.num_warps' to be an i64 from 1 to 32, found "4"}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warps = "4"} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.num_warps' to be an i64 from 1 to 32, found 4 : i32}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 4 : i32} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.num_warps' to be an i64 from 1 to 32, found 9223372036854775807 : i64}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warps = 9223372036854775807 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.planned_bytes' to be an i64 that is not negative, found -1 : i64}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.planned_bytes = -1 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.shared_by_row' to be an array of seven i64 that are not negative, found array<i64: 1, 2>}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.shared_by_row = array<i64: 1, 2>} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile_gpu.row_trips' belongs on a local_slots}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.row_trips = array<i64: 0, 1, 0>} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.cluster' to be an i64 of at least 2, found 1}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.cluster = 1 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{expected 'tile_gpu.persistent' to be a unit attribute, found true}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.persistent = true} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile_gpu.num_threads' belongs on a kernel's function}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_threads = 128 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile_gpu.offset' belongs on an operation of a kernel}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.offset = 0 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{unknown attribute 'tile_gpu.num_warp'}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.num_warp = 4 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile_gpu.processors' belongs on a module}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.processors = 114 : i64} grid { tile.yield } body { tile.return }

// -----

// expected-error @below {{'tile_gpu.schedule' belongs on a loop}}
tile.kernel @k params [] dims [] constexprs [] attributes {tile_gpu.schedule = #tile_gpu.schedule<[(stage = 0, order = 0)]>} grid { tile.yield } body { tile.return }

// -----

// expected-error @+1 {{expected a grid with an axis for the parts of tile_gpu.split_parts, found one without axes}}
tile.kernel @parts params [] dims [] constexprs [] attributes {tile_gpu.split_parts = 2 : i64} grid {
  tile.yield
} body {
  tile.return
}
