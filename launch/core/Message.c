/* Messages of the launcher's core: each thread's last one, and the parts that several share. */
#include "launch/core/Core.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static TK_THREAD tk_message tk_last;

TK_CORE tk_message *tk_said(void) { return &tk_last; }
TK_CORE const char *tk_text(const tk_message *message) {
  return message->large ? message->large : message->small;
}

static TK_FORMAT(2, 0) void tk_add_list(tk_message *m, const char *format, va_list list) {
  char *text = m->large ? m->large : m->small;
  size_t room = m->large ? m->capacity : sizeof m->small;
  va_list again;
  va_copy(again, list);
  int more = vsnprintf(text + m->length, room - m->length, format, list);
  if (more > 0 && m->length + (size_t)more >= room) {
    size_t wanted = 2 * (m->length + (size_t)more + 1);
    char *larger = (char *)malloc(wanted);
    if (larger) {
      memcpy(larger, text, m->length);
      free(m->large);
      m->large = larger;
      m->capacity = wanted;
      vsnprintf(larger + m->length, wanted - m->length, format, again);
    } else {
      more = (int)(room - 1 - m->length);
    }
  }
  va_end(again);
  m->length += more > 0 ? (size_t)more : 0;
}

TK_CORE void tk_add_text(tk_message *message, const char *format, ...) {
  va_list list;
  va_start(list, format);
  tk_add_list(message, format, list);
  va_end(list);
}

TK_CORE void tk_say(const char *format, ...) {
  va_list list;
  va_start(list, format);
  tk_add_list(&tk_last, format, list);
  va_end(list);
}

TK_CORE void tk_clear(void) {
  free(tk_last.large);
  tk_last.large = NULL;
  tk_last.length = 0;
  tk_last.small[0] = '\0';
}

TK_CORE void tk_about(const tk_kernel *k) {
  tk_clear();
  tk_say("%s: ", k->name);
}

TK_CORE tile_code tk_fail(const tk_kernel *k, tile_code code, int line) {
  if (line && k->file[0])
    tk_say(" (%s:%d)", k->file, line);
  return code;
}

TK_CORE const char *tk_dtype_name(int dtype) {
  static const char *const names[] = {
      /* Written from manifest/Dtypes.def. */
      "bool", "i8",   "i16", "i32", "i64",    "u8",     "u16", "u32", "u64",
      "f16",  "bf16", "f32", "f64", "f8e4m3", "f8e5m2", "i4",  "u4",
  };
  return dtype >= 0 && dtype < (int)(sizeof names / sizeof *names) ? names[dtype] : NULL;
}

TK_CORE void tk_say_origin(const tk_kernel *k, const tk_slot *s) {
  if (s->form != TK_VALUE)
    tk_say(" ('%s', %s %d)", k->params[s->param].name,
           s->form == TK_STRIDE ? "stride" : "dimension", s->axis);
}

/* A float by the shortest text that reads back as the same, always with a point or an exponent. */
static void tk_say_float(double value) {
  char text[40];
  for (int digits = 1; digits <= 17; ++digits) {
    snprintf(text, sizeof text, "%.*g", digits, value);
    if (strtod(text, NULL) == value)
      break;
  }
  tk_say("%s%s", text, strpbrk(text, ".en") ? "" : ".0");
}

TK_CORE void tk_say_values(const tk_kernel *k, int expr, const int64_t *values) {
  const tk_expr *e = &k->exprs[expr];
  for (int i = 0; i < e->name_count; ++i) {
    const tk_slot *s = &k->slots[e->names[i]];
    tk_say("%s%s = ", i ? ", " : ": ", s->name);
    if (s->is_float)
      tk_say_float(tk_float(values[e->names[i]]));
    else
      tk_say("%lld", (long long)values[e->names[i]]);
    tk_say_origin(k, s);
  }
}
