// A header with another kind of guard than the rest of the tree has.
#pragma once

int once();
