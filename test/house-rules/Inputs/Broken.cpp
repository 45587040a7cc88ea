int f() { return emitError("Expected a tile."); }
