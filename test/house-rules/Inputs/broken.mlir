// A directive that lit passes over.
// RUN_HERE tile-opt %s
