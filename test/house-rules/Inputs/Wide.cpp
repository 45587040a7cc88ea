// Sections with banners that a formatter broke, and a line that is too wide.
//===--- Measuring
//------------------------------------------------------------------------------===//
//===--- Reading ---===//
//===--- Whole ------------------------------------------------------------===//
static const char *text = "a line of a hundred columns and one more, which is the first that is too wide";
