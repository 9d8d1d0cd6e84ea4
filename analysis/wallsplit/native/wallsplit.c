/* The loops of wallsplit that cost most, in plain C: no Python.h, no dependency, called through ctypes.
 *
 * Python decides what is done; here are loops over arrays that the caller allocated. The caller can do the same in
 * NumPy, and does so after every other return code than OK; there errors are put into words, too. So nothing here
 * explains, and nothing here is needed.
 *
 * What is read is a file of unknown origin. Every offset that comes from it is checked against the page, the record or
 * the file it points into before it is followed; every loop is bounded by something already checked; and memory grows
 * with what was read, never by a size that the file merely claims.
 */
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || UINTPTR_MAX != UINT64_MAX
#error "64-bit little-endian only: elsewhere the twins do the work"
#endif

#define EXPORT __attribute__((visibility("default")))

enum { OK, BROKEN, UNKNOWN, NO_MEMORY, UNREAD };
/* BROKEN: the file breaks its format. UNKNOWN: it may be well-formed, but not for this code. UNREAD: nothing came. */

#define NONE UINT32_MAX

static inline uint64_t load64(const uint8_t *at) { uint64_t v; memcpy(&v, at, 8); return v; }
static inline uint32_t load32(const uint8_t *at) { uint32_t v; memcpy(&v, at, 4); return v; }

/* At least twice the room, at least `need` items of `size` bytes; NULL, and nothing changed, without memory. */
static void *grown(void *old, size_t need, size_t *room, size_t size) {
    size_t more = *room ? 2 * *room : 64;
    if (more < need) more = need;
    if (more > SIZE_MAX / size) return NULL;
    void *new = realloc(old, more * size);
    if (new) *room = more;
    return new;
}

/* ---- Byte strings to small integers ------------------------------------------------------------------------------ */

typedef struct { uint64_t hash; size_t at; uint32_t length; } place;

/* The distinct strings seen so far, one behind the other in `bytes`; a string's code is its place in `of`. */
typedef struct {
    uint8_t *bytes; size_t used, room;
    place *of; size_t count, places;
    uint32_t *slot; uint64_t slots;          /* open addressing: a code or NONE; slots is a power of two */
    uint64_t secret[2];                      /* nobody can make a file whose strings collide */
} strings;

static inline uint64_t folded(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t hash_of(const strings *s, const uint8_t *text, size_t length) {
    uint64_t hash = s->secret[0] ^ length, tail = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8) hash = folded(hash ^ load64(text + i), s->secret[1]);
    if (i < length) memcpy(&tail, text + i, length - i);
    return folded(hash ^ tail, s->secret[1] ^ 0x9e3779b97f4a7c15u);
}

static int strings_begin(strings *s, const uint64_t *secret) {
    memset(s, 0, sizeof *s);
    s->secret[0] = secret[0];
    s->secret[1] = secret[1] | 1;
    s->slots = 256;
    s->slot = malloc(s->slots * sizeof *s->slot);
    if (!s->slot) return NO_MEMORY;
    memset(s->slot, 0xff, s->slots * sizeof *s->slot);
    return OK;
}

static void strings_end(strings *s) { free(s->bytes); free(s->of); free(s->slot); }

static int strings_rehash(strings *s) {
    uint64_t slots = 4 * s->slots;
    uint32_t *slot = malloc(slots * sizeof *slot);
    if (!slot) return NO_MEMORY;
    memset(slot, 0xff, slots * sizeof *slot);
    for (size_t i = 0; i < s->count; i++) {
        uint64_t k = s->of[i].hash & (slots - 1);
        while (slot[k] != NONE) k = (k + 1) & (slots - 1);
        slot[k] = (uint32_t)i;
    }
    free(s->slot);
    s->slot = slot;
    s->slots = slots;
    return OK;
}

/* The code of a string, a new one if need be; NONE without memory. */
static uint32_t code_of(strings *s, const uint8_t *text, size_t length) {
    uint64_t hash = hash_of(s, text, length), k = hash & (s->slots - 1);
    for (uint32_t i; (i = s->slot[k]) != NONE; k = (k + 1) & (s->slots - 1)) {
        const place *p = &s->of[i];
        if (p->hash == hash && p->length == length && (!length || !memcmp(s->bytes + p->at, text, length))) return i;
    }
    if (s->count == NONE - 1 || length > UINT32_MAX) return NONE;
    if (s->count == s->places) {
        void *of = grown(s->of, s->count + 1, &s->places, sizeof *s->of);
        if (!of) return NONE;
        s->of = of;
    }
    if (s->used + length > s->room) {
        void *bytes = grown(s->bytes, s->used + length, &s->room, 1);
        if (!bytes) return NONE;
        s->bytes = bytes;
    }
    if (length) memcpy(s->bytes + s->used, text, length);
    s->of[s->count] = (place){hash, s->used, (uint32_t)length};
    s->used += length;
    s->slot[k] = (uint32_t)s->count++;
    if (2 * s->count > s->slots && strings_rehash(s)) return NONE;
    return (uint32_t)s->count - 1;
}

/* ---- SQLite's leaf pages to columns ------------------------------------------------------------------------------ *
 * "Database File Format", https://www.sqlite.org/fileformat2.html. A leaf holds cells: length of the record, row id,
 * record. A record begins with a header: its own length, then a serial type per column, which says how many bytes the
 * column's value takes; then come the values. A record too long for a page spills: its rest lies in a chain of pages.
 * All the numbers in headers are varints. Most rows of a table have one of a few headers, so each is parsed once. */

#define MOST_COLUMNS 32
#define MANY_KINDS 32768
#define SLACK 64                             /* bytes behind a buffer that may be read, never used */

enum { INTEGER, REAL, TEXT, ROWID };         /* what a column declares to be */
enum { IS_NULL = 0, IS_REAL = 7, IS_ZERO = 8, IS_ONE = 9, IS_TEXT = 13 };    /* 1 to 6: integers of 1 to 8 bytes */

typedef struct { uint32_t at, size; uint8_t type; } value;   /* where in the record; text of any length is IS_TEXT */
typedef struct { uint64_t length, need, key; value of[MOST_COLUMNS]; } layout;
/* need: where the last value wanted ends in the record; key: how many bytes the key takes at most */

typedef struct {
    int columns;
    int32_t position[MOST_COLUMNS], kind[MOST_COLUMNS];
    strings headers, texts[MOST_COLUMNS];
    layout *layouts; size_t count, room;     /* as many as headers */
    uint8_t *whole; size_t whole_room;       /* a record that spills, in one piece */
    /* Columns that together are a row's kind: millions of rows are of a few kinds, so each kind is stored once. */
    uint8_t is_key[MOST_COLUMNS];
    strings kinds;                           /* type and bytes of each key column's value, one behind the other */
    int64_t *kind_value[MOST_COLUMNS]; uint8_t *kind_null[MOST_COLUMNS];
    size_t kind_room[MOST_COLUMNS], null_room[MOST_COLUMNS];
    uint8_t *key; size_t key_room;
} reader;

typedef struct { int fd; uint64_t page_size, usable, pages; uint8_t *used; } source;

static inline unsigned varint(const uint8_t *at, const uint8_t *end, uint64_t *result) {   /* bytes taken; 0: no end */
    uint64_t v = 0;
    for (unsigned i = 0; i < 8; i++) {
        if (at + i >= end) return 0;
        v = v << 7 | (at[i] & 127);
        if (at[i] < 128) { *result = v; return i + 1; }
    }
    if (at + 8 >= end) return 0;
    *result = v << 8 | at[8];
    return 9;
}

static const uint8_t SIZES[12] = {0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0};

static int parsed(const reader *r, const uint8_t *header, uint64_t length, layout *out) {
    const uint8_t *at = header, *end = header + length;
    uint64_t type, offset = length;
    memset(out, 0, sizeof *out);             /* a column that a record lacks is NULL: it was added later */
    at += varint(at, end, &type);
    for (int32_t column = 0; at < end; column++) {
        unsigned taken = varint(at, end, &type);
        if (!taken || type == 10 || type == 11 || type > (1ull << 33)) return BROKEN;
        at += taken;
        uint64_t size = type >= 12 ? (type - 12) >> 1 : SIZES[type];
        for (int i = 0; i < r->columns; i++) {
            if (r->position[i] != column || r->kind[i] == ROWID) continue;
            int is_text = r->kind[i] == TEXT, is_real = r->kind[i] == REAL;
            int fits = is_text ? type >= IS_TEXT && type & 1 : type <= IS_ONE && (type != IS_REAL || is_real);
            fits |= type == IS_NULL;
            if (!fits || offset + size > UINT32_MAX) return UNKNOWN;
            out->of[i] = (value){(uint32_t)offset, (uint32_t)size, type >= 12 ? IS_TEXT : (uint8_t)type};
            if (offset + size > out->need) out->need = offset + size;
            if (r->is_key[i]) out->key += size;
        }
        offset += size;
    }
    out->length = offset;
    out->key += 5 * MOST_COLUMNS;
    return OK;
}

static int layout_of(reader *r, const uint8_t *header, uint64_t length, uint32_t *result) {
    const strings *h = &r->headers;
    uint32_t id = *result;                   /* most often that of the row before, or of the one before that */
    if (id < h->count && h->of[id].length == length && !memcmp(h->bytes + h->of[id].at, header, length)) return OK;
    if ((id = code_of(&r->headers, header, length)) == NONE) return NO_MEMORY;
    if (id == r->count) {
        if (r->count == r->room) {
            void *layouts = grown(r->layouts, r->count + 1, &r->room, sizeof *r->layouts);
            if (!layouts) return NO_MEMORY;
            r->layouts = layouts;
        }
        int bad = parsed(r, header, length, &r->layouts[id]);
        if (bad) return bad;
        r->count++;
    }
    *result = id;
    return OK;
}

static int read_at(const source *f, uint8_t *into, size_t bytes, uint64_t at) {
    while (bytes) {
        ssize_t got = pread(f->fd, into, bytes, (off_t)at);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return UNREAD;
        into += got;
        bytes -= (size_t)got;
        at += (uint64_t)got;
    }
    return OK;
}

/* A record of `length` bytes that spills, in one piece: `here` bytes at `at`, behind them the next page's number. */
static int assembled(reader *r, const source *f, const uint8_t *at, uint64_t here, uint64_t length) {
    if (length + SLACK > r->whole_room) {
        void *whole = grown(r->whole, length + SLACK, &r->whole_room, 1);   /* length: at most the file's */
        if (!whole) return NO_MEMORY;
        r->whole = whole;
    }
    memcpy(r->whole, at, here);
    uint64_t filled = here, next = __builtin_bswap32(load32(at + here));
    uint8_t page[65536];
    while (filled < length) {
        if (next < 1 || next > f->pages || __atomic_exchange_n(&f->used[next], 1, __ATOMIC_RELAXED)) return BROKEN;
        int bad = read_at(f, page, f->page_size, (next - 1) * f->page_size);
        if (bad) return bad;
        uint64_t part = f->usable - 4;
        if (part > length - filled) part = length - filled;
        memcpy(r->whole + filled, page + 4, part);
        filled += part;
        next = __builtin_bswap32(load32(page));
    }
    memset(r->whole + length, 0, SLACK);
    return OK;
}

static inline int64_t integer(const uint8_t *at, unsigned type) {           /* big-endian; 8 bytes can be read */
    static const uint8_t excess[7] = {0, 56, 48, 40, 32, 16, 0};
    if (type >= 1 && type <= 6) return (int64_t)__builtin_bswap64(load64(at)) >> excess[type];
    return type == IS_ONE;
}

/* A value as it is kept: an integer, the bits of a real, the code of a text. */
static int decoded(reader *r, int i, const uint8_t *record, const value *v, int64_t *result, int *is_null) {
    *result = 0;
    if ((*is_null = v->type == IS_NULL)) return OK;
    if (r->kind[i] == TEXT) {
        uint32_t code = code_of(&r->texts[i], record + v->at, v->size);
        *result = code;
        return code == NONE ? NO_MEMORY : OK;
    }
    *result = integer(record + v->at, v->type);
    if (r->kind[i] != REAL) return OK;
    double real = (double)*result;
    uint64_t bits = __builtin_bswap64(load64(record + v->at));
    if (v->type == IS_REAL) memcpy(&real, &bits, 8);
    *is_null = isnan(real);                  /* SQLite has no NaN: it reads as NULL */
    memcpy(result, &real, 8);
    return OK;
}

/* The kind of a record: a new one is kept with the values of its columns. */
static int kind_of(reader *r, const uint8_t *record, const layout *l, uint32_t *result) {
    if (l->key > r->key_room) {
        void *key = grown(r->key, l->key, &r->key_room, 1);
        if (!key) return NO_MEMORY;
        r->key = key;
    }
    uint8_t *k = r->key;
    for (int i = 0; i < r->columns; i++) {
        const value *v = &l->of[i];
        if (!r->is_key[i]) continue;
        *k++ = v->type;
        if (v->type == IS_TEXT) { memcpy(k, &v->size, 4); k += 4; }
        if (v->size) memcpy(k, record + v->at, v->size);
        k += v->size;
    }
    size_t before = r->kinds.count;
    uint32_t code = *result = code_of(&r->kinds, r->key, (size_t)(k - r->key));
    if (code == NONE) return NO_MEMORY;
    for (int i = 0; i < r->columns && code == before; i++) {
        if (!r->is_key[i]) continue;
        int64_t kept;
        int is_null, bad = decoded(r, i, record, &l->of[i], &kept, &is_null);
        if (bad) return bad;
        if (code >= r->kind_room[i]) {
            void *more = grown(r->kind_value[i], (size_t)code + 1, &r->kind_room[i], sizeof kept);
            if (!more) return NO_MEMORY;
            r->kind_value[i] = more;
        }
        if (code >= r->null_room[i]) {
            void *more = grown(r->kind_null[i], (size_t)code + 1, &r->null_room[i], 1);
            if (!more) return NO_MEMORY;
            r->kind_null[i] = more;
        }
        r->kind_value[i][code] = kept;
        r->kind_null[i][code] = (uint8_t)is_null;
    }
    return OK;
}

static int row(reader *r, const source *f, const uint8_t *at, const uint8_t *end, int64_t n, void **values,
               uint8_t **nulls, uint32_t *kinds, uint32_t *known) {
    uint64_t length, rowid, header;
    unsigned taken = varint(at, end, &length);
    if (!taken) return BROKEN;
    at += taken;
    if (!(taken = varint(at, end, &rowid))) return BROKEN;
    at += taken;
    if (length < 1 || length > f->pages * f->page_size) return BROKEN;
    uint64_t here = length;                  /* bytes of the record in this page ("Cell Payload Overflow Pages") */
    if (length > f->usable - 35) {
        uint64_t least = (f->usable - 12) * 32 / 255 - 23;
        here = least + (length - least) % (f->usable - 4);
        if (here > f->usable - 35) here = least;
    }
    if (here + (here < length ? 4 : 0) > (uint64_t)(end - at)) return BROKEN;
    int is_whole = here == length;
    uint32_t id = *known;
    for (;;) {
        uint64_t there = is_whole ? length : here;
        taken = varint(at, at + there, &header);
        if (taken && header >= 2 && header <= there) {
            int bad = layout_of(r, at, header, &id);
            if (bad) return bad;
            if (r->layouts[id].length != length) return BROKEN;
            if (r->layouts[id].need <= there) break;
        } else if (is_whole || (taken && header < 2)) return BROKEN;
        int bad = assembled(r, f, at, here, length);
        if (bad) return bad;
        at = r->whole;
        is_whole = 1;
    }
    *known = id;
    const layout *l = &r->layouts[id];
    for (int i = 0; i < r->columns; i++) {
        const value *v = &l->of[i];
        int64_t kept = (int64_t)rowid;
        int is_null = 0, bad = OK;
        if (r->is_key[i]) continue;
        if (r->kind[i] != ROWID) bad = decoded(r, i, at, v, &kept, &is_null);
        if (bad) return bad;
        if (is_null) nulls[i][n] = 1;        /* and the value is left as it is: a column of nulls takes no memory */
        else if (r->kind[i] == TEXT) ((uint32_t *)values[i])[n] = (uint32_t)kept;
        else ((int64_t *)values[i])[n] = kept;
    }
    return kinds ? kind_of(r, at, l, &kinds[n]) : OK;
}

EXPORT void ws_reader_free(void *opaque) {
    reader *r = opaque;
    if (!r) return;
    strings_end(&r->headers);
    strings_end(&r->kinds);
    for (int i = 0; i < r->columns; i++) {
        strings_end(&r->texts[i]);
        free(r->kind_value[i]); free(r->kind_null[i]);
    }
    free(r->layouts); free(r->whole); free(r->key); free(r);
}

/* A reader of some columns, by position in the record and kind, of which those marked make up the kind of a row; it
 * remembers headers, texts and kinds. One per thread. */
EXPORT void *ws_reader(int columns, const int32_t *position, const int32_t *kind, const uint8_t *is_key,
                       const uint64_t *secret) {
    reader *r = columns > 0 && columns <= MOST_COLUMNS ? calloc(1, sizeof *r) : NULL;
    if (!r) return NULL;
    r->columns = columns;
    memcpy(r->position, position, (size_t)columns * sizeof *position);
    memcpy(r->kind, kind, (size_t)columns * sizeof *kind);
    memcpy(r->is_key, is_key, (size_t)columns);
    int bad = strings_begin(&r->headers, secret) | strings_begin(&r->kinds, secret);
    for (int i = 0; i < columns; i++) bad |= strings_begin(&r->texts[i], secret);
    if (!bad) return r;
    ws_reader_free(r);
    return NULL;
}

/* Reads the leaves pages[0 .. n): the rows of pages[i] go to first[i] .. first[i + 1] of the columns, and of `kinds`,
 * NULL without key columns. Where a page has not as many rows, or a quarter of many rows are kinds of their own,
 * UNKNOWN. `used`: a byte per page of the file, set for those of chains; a file uses none twice. */
EXPORT int ws_read(void *opaque, int fd, int64_t page_size, int64_t usable, int64_t page_count, const int64_t *pages,
                   const int64_t *first, int64_t n, void **values, uint8_t **nulls, uint32_t *kinds, uint8_t *used) {
    reader *r = opaque;
    if (page_size < 512 || page_size > 65536 || usable < 480 || usable > page_size || page_count < 1) return UNKNOWN;
    source f = {fd, (uint64_t)page_size, (uint64_t)usable, (uint64_t)page_count, used};
    int64_t block = (1 << 18) / page_size;   /* pages read at once: they stay in the second-level cache */
    uint8_t *buffer = malloc((size_t)(block * page_size) + SLACK);
    if (!buffer) return NO_MEMORY;
    memset(buffer + block * page_size, 0, SLACK);
    int bad = OK;
    uint32_t known[2] = {NONE, NONE};        /* layouts of the last two rows: rows of ranges often take turns */
    for (int64_t i = 0; i < n && !bad;) {
        int64_t together = 1;
        while (together < block && i + together < n && pages[i + together] == pages[i] + together) together++;
        if (pages[i] < 1 || pages[i] + together - 1 > page_count) { bad = BROKEN; break; }
        bad = read_at(&f, buffer, (size_t)(together * page_size), (uint64_t)(pages[i] - 1) * f.page_size);
        for (int64_t p = 0; p < together && !bad; p++) {
            const uint8_t *page = buffer + p * page_size, *end = page + usable;
            int64_t count = (int64_t)page[3] << 8 | page[4], at = first[i + p];
            if (page[0] != 13) bad = BROKEN;
            else if (count != first[i + p + 1] - at || count > (usable - 8) / 4) bad = UNKNOWN;
            for (int64_t c = 0; c < count && !bad; c++) {
                int64_t cell = (int64_t)page[8 + 2 * c] << 8 | page[9 + 2 * c];
                if (cell < 8 + 2 * count || cell > usable - 4) bad = BROKEN;
                else bad = row(r, &f, page + cell, end, at + c, values, nulls, kinds, &known[c & 1]);
            }
        }
        i += together;
        int64_t different = kinds ? (int64_t)r->kinds.count : 0;
        if (different > MANY_KINDS && different > (first[i] - first[0]) / 4 && !bad) bad = UNKNOWN;
    }
    free(buffer);
    return bad;
}

EXPORT int64_t ws_kind_count(void *opaque) { return (int64_t)((reader *)opaque)->kinds.count; }

/* What a key column is in each kind: integers, bits of reals or codes of texts, and whether it is null. */
EXPORT void ws_kinds(void *opaque, int column, int64_t *values, uint8_t *nulls) {
    const reader *r = opaque;
    if (!r->kinds.count) return;
    memcpy(values, r->kind_value[column], r->kinds.count * sizeof *values);
    memcpy(nulls, r->kind_null[column], r->kinds.count);
}

/* How many distinct texts a column has, and how many bytes they are together. */
EXPORT int64_t ws_text_count(void *opaque, int column, int64_t *bytes) {
    const strings *s = &((reader *)opaque)->texts[column];
    *bytes = (int64_t)s->used;
    return (int64_t)s->count;
}

/* Text i is bytes[offset[i] .. offset[i + 1]): one offset more than there are texts. */
EXPORT void ws_texts(void *opaque, int column, int64_t *offset, uint8_t *bytes) {
    const strings *s = &((reader *)opaque)->texts[column];
    for (size_t i = 0; i < s->count; i++) offset[i] = (int64_t)s->of[i].at;
    offset[s->count] = (int64_t)s->used;
    if (s->used) memcpy(bytes, s->bytes, s->used);
}

/* ---- Which layers are active when -------------------------------------------------------------------------------- */

/* A merge of the edges of up to 31 layers, each of n[k] ascending, disjoint intervals: active[i], bit k for layer k,
 * holds on [times[i], times[i + 1]). Both have room for all edges; *filled times are written, one active fewer. */
EXPORT int ws_timeline(int layers, int64_t *const *starts, int64_t *const *ends, const int64_t *n, int64_t *times,
                       uint32_t *active, int64_t *filled) {
    struct { int64_t time, edge; int layer; } next[32];      /* each layer's next edge, soonest first */
    int left = 0;
    int64_t out = 0;
    uint32_t now = 0;
    if (layers > 31) return UNKNOWN;
    for (int k = 0; k < layers; k++) {
        if (!n[k]) continue;
        int at = left++;
        for (; at && next[at - 1].time > starts[k][0]; at--) next[at] = next[at - 1];
        next[at].time = starts[k][0]; next[at].edge = 0; next[at].layer = k;
    }
    while (left) {
        int k = next[0].layer;
        int64_t time = next[0].time, edge = ++next[0].edge;
        now ^= 1u << k;
        if (out && times[out - 1] == time) active[out - 1] = now;
        else { times[out] = time; active[out++] = now; }
        int is_over = edge == 2 * n[k], at = 0;
        int64_t later = is_over ? INT64_MAX : edge & 1 ? ends[k][edge / 2] : starts[k][edge / 2];
        for (; at + 1 < left && next[at + 1].time < later; at++) next[at] = next[at + 1];
        if (is_over) {
            for (; at + 1 < left; at++) next[at] = next[at + 1];
            left--;
        } else { next[at].time = later; next[at].edge = edge; next[at].layer = k; }
    }
    *filled = out;
    return OK;
}

/* ---- A timeline cut where labels change -------------------------------------------------------------------------- */

typedef struct { const int64_t *time; const int32_t *code; int64_t n, at; } labels;

/* The n pieces of a timeline, each booked to the first layer active in it, else to the last account, and cut inside
 * where labels change: codes[k][i] from times[k][i] on, -1 before. Where an account is idle the first two labels count,
 * and that of the account, 2 + account: told as phase, elsewhere (is there any?) and call. There is room for all. */
EXPORT int ws_pieces(const int64_t *time, const uint32_t *active, int64_t n, int32_t accounts, const uint8_t *is_idle,
                     int64_t *const *times, int32_t *const *codes, const int64_t *count, int64_t *at, uint8_t *account,
                     int8_t *phase, uint8_t *elsewhere, int32_t *call, int64_t *filled) {
    labels all[2 + 32];
    int64_t out = 0;
    if (accounts < 1 || accounts > 32) return UNKNOWN;
    for (int k = 0; k < 2 + accounts; k++) all[k] = (labels){times[k], codes[k], count[k], 0};
    for (int64_t i = 0, j; i < n; i = j) {
        int32_t now = active[i] ? __builtin_ctz(active[i]) : accounts - 1;
        if (now >= accounts) return UNKNOWN;
        for (j = i + 1; j < n && (active[j] ? __builtin_ctz(active[j]) : accounts - 1) == now;) j++;
        labels *own[3] = {&all[0], &all[1], &all[2 + now]};
        int32_t code[3] = {-1, -1, -1};
        for (int64_t t = time[i], next; t < time[j]; t = next) {
            next = time[j];
            for (int k = 0; is_idle[now] && k < 3; k++) {
                labels *l = own[k];
                while (l->at < l->n && l->time[l->at] <= t) l->at++;
                if (l->at < l->n && l->time[l->at] < next) next = l->time[l->at];
                code[k] = l->at ? l->code[l->at - 1] : -1;
            }
            at[out] = t; account[out] = (uint8_t)now; phase[out] = (int8_t)code[0];
            elsewhere[out] = code[1] >= 0; call[out++] = code[2];
        }
    }
    *filled = out;
    return OK;
}

/* ---- Sums by group ----------------------------------------------------------------------------------------------- */

/* The sum of the lengths of each group 0 .. groups: numbers of 1, 2, 4 or 8 bytes, as `width` says. */
EXPORT int ws_sums(const void *group, int width, const int64_t *length, int64_t n, int64_t groups, int64_t *sum) {
    for (int64_t g = 0; g < groups; g++) sum[g] = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t g = width == 1 ? ((const uint8_t *)group)[i] : width == 2 ? ((const uint16_t *)group)[i]
                   : width == 4 ? ((const uint32_t *)group)[i] : ((const uint64_t *)group)[i];
        if (g >= (uint64_t)groups) return UNKNOWN;
        sum[g] = (int64_t)((uint64_t)sum[g] + (uint64_t)length[i]);
    }
    return OK;
}

/* ---- Places among ascending numbers ------------------------------------------------------------------------------ */

/* Of each of m numbers how many of n ascending ones are smaller, or, from the right, no larger. UNKNOWN where the m do
 * not ascend, too. */
EXPORT int ws_places(const int64_t *ascending, int64_t n, const int64_t *number, int64_t m, int right, int64_t *place) {
    int64_t at = 0;
    for (int64_t i = 0; i < m; i++) {
        if (i && number[i] < number[i - 1]) return UNKNOWN;
        if (right) while (at < n && ascending[at] <= number[i]) at++;
        else while (at < n && ascending[at] < number[i]) at++;
        place[i] = at;
    }
    return OK;
}

/* ---- The interval that began last -------------------------------------------------------------------------------- */

/* Of intervals by start, none empty, the code of the last of those open, -1 where none is: codes[i] from times[i] on.
 * Both have room for 2 n; neighbours differ. */
EXPORT int ws_latest(const int64_t *start, const int64_t *end, const int32_t *code, int64_t n, int64_t *times,
                     int32_t *codes, int64_t *filled) {
    uint32_t *open = NULL;
    size_t room = 0, depth = 0;
    int64_t out = 0;
    if (n > UINT32_MAX - 1) return UNKNOWN;
#define CHANGE(t, c)                                                                                                   \
    do {                                                                                                               \
        int64_t time_ = (t);                                                                                           \
        int32_t code_ = (c);                                                                                           \
        if (out && times[out - 1] == time_) out--;                                                                     \
        if ((out ? codes[out - 1] : -1) != code_) { times[out] = time_; codes[out++] = code_; }                        \
    } while (0)
    for (int64_t i = 0; i <= n; i++) {
        while (depth && (i == n || end[open[depth - 1]] <= start[i])) {
            int64_t over = end[open[--depth]];
            while (depth && end[open[depth - 1]] <= over) depth--;
            CHANGE(over, depth ? code[open[depth - 1]] : -1);
        }
        if (i == n) break;
        if (depth == room) {
            void *more = grown(open, depth + 1, &room, sizeof *open);
            if (!more) { free(open); return NO_MEMORY; }
            open = more;
        }
        open[depth++] = (uint32_t)i;
        CHANGE(start[i], code[i]);
    }
    free(open);
    *filled = out;
    return OK;
}

/* ---- How deep intervals lie in one another ----------------------------------------------------------------------- */

/* Of intervals in `order` (NULL: as they are) the level: 0 of those that begin when all before them are over, 1 of those
 * that would, were it not for those of level 0, and so on; `most` of all others. */
EXPORT int ws_levels(const int64_t *start, const int64_t *end, const int64_t *order, int64_t n, int32_t most,
                     uint8_t *level) {
    int64_t latest[32];                      /* end of what was met at each level */
    if (most < 0 || most > 32) return UNKNOWN;
    for (int32_t k = 0; k < most; k++) latest[k] = INT64_MIN;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = order ? order[i] : i;
        int32_t k = 0, is_over = 0;
        if (at < 0 || at >= n) return UNKNOWN;
        for (; k < most && !is_over; k++) {
            is_over = start[at] >= latest[k];
            if (end[at] > latest[k]) latest[k] = end[at];
        }
        level[at] = (uint8_t)(k - is_over);
    }
    return OK;
}

/* ---- Parts of a sequence that come again ------------------------------------------------------------------------- */

/* A sequence is cut at place[offset[k]] .. place[offset[k + 1] - 1], for each k of `cuts`; what lies between two places
 * is a body, told by its length and by hash[end] - hash[begin], equal ones of a cut being one. Writes the body between
 * every two places, and of each body its cut, how often it is met, its length, where first, and its hash. */
#define SLOT_OF(is, long_, of) (folded((is) ^ secret, ((uint64_t)(long_) << 32 ^ (uint64_t)(of)) * 2 + 1) & (slots - 1))
EXPORT int ws_bodies(const uint64_t *hash, int64_t tokens, const int64_t *place, int64_t places, const int64_t *offset,
                     int64_t cuts, uint64_t secret, int64_t *between, int64_t *cut, int64_t *count, int64_t *length,
                     int64_t *sample, uint64_t *told, int64_t *filled) {
    uint64_t slots = 256;                    /* open addressing, as in `strings` */
    uint32_t *slot = NULL, bodies = 0;
    int result = places < NONE ? OK : UNKNOWN;
    for (int64_t k = 0, out = 0; k < cuts && !result; k++) {
        if (offset[k] < 0 || offset[k + 1] < offset[k] || offset[k + 1] > places) result = UNKNOWN;
        for (int64_t j = offset[k]; j + 1 < offset[k + 1] && !result; j++) {
            int64_t begin = place[j], end = place[j + 1];
            if (begin < 0 || begin > end || end > tokens) { result = UNKNOWN; break; }
            if (!slot || 2 * (uint64_t)bodies > slots) {
                free(slot);
                slot = malloc((slots *= 4) * sizeof *slot);
                if (!slot) { result = NO_MEMORY; break; }
                memset(slot, 0xff, slots * sizeof *slot);
                for (uint32_t i = 0; i < bodies; i++) {
                    uint64_t at = SLOT_OF(told[i], length[i], cut[i]);
                    while (slot[at] != NONE) at = (at + 1) & (slots - 1);
                    slot[at] = i;
                }
            }
            uint64_t is = hash[end] - hash[begin], at = SLOT_OF(is, end - begin, k);
            uint32_t i;
            for (; (i = slot[at]) != NONE; at = (at + 1) & (slots - 1))
                if (told[i] == is && length[i] == end - begin && cut[i] == k) break;
            if (i == NONE) {
                slot[at] = i = bodies++;
                cut[i] = k; count[i] = 0; length[i] = end - begin; sample[i] = begin; told[i] = is;
            }
            count[i]++;
            between[out++] = i;
        }
    }
    free(slot);
    *filled = bodies;
    return result;
}

/* ---- Annotated ranges and what the calls inside them ran --------------------------------------------------------- */

typedef struct { int64_t row, end, first, last, operations; int32_t children, is_hit; } range;
typedef struct { range *open; size_t depth, room; int64_t last_end; } thread;
typedef struct { int64_t *row, *first, *last, *operations; int32_t *level, *children; int64_t filled; } projection;

static void closed(thread *t, projection *p) {
    const range *r = &t->open[--t->depth];
    if (r->end > t->last_end) t->last_end = r->end;
    if (!r->is_hit) return;
    if (t->depth) {                          /* what it ran, the range around it ran */
        range *around = &t->open[t->depth - 1];
        if (r->first < around->first) around->first = r->first;
        if (r->last > around->last) around->last = r->last;
        around->operations += r->operations;
        around->children++;
        around->is_hit = 1;
    }
    p->row[p->filled] = r->row;
    p->first[p->filled] = r->first;
    p->last[p->filled] = r->last;
    p->operations[p->filled] = r->operations;
    p->level[p->filled] = (int32_t)t->depth;
    p->children[p->filled++] = r->children;
}

/* Ranges r and calls c, both by start (`order` of ranges: longest first among equals, then outermost), each on one of
 * `threads` threads (r_thread, c_thread; -1: on none). Writes, for each range with a call in it, its row, when the work
 * of these calls begins and ends, how many operations it is, in how many such ranges it lies, how many lie directly in
 * it; there is room for all ranges. A thread whose ranges cross is `bad`: nothing that is written of it counts. */
EXPORT int ws_project(const int32_t *r_thread, const int64_t *r_start, const int64_t *r_end, const int64_t *order,
                      int64_t ranges, const int32_t *c_thread, const int64_t *c_start, const int64_t *c_end,
                      const int64_t *c_first, const int64_t *c_last, const int64_t *c_operations, int64_t calls,
                      int32_t threads, int64_t *row, int64_t *first, int64_t *last, int64_t *operations, int32_t *level,
                      int32_t *children, int64_t *filled, uint8_t *bad) {
    thread *on = calloc((size_t)threads + 1, sizeof *on);
    projection p = {row, first, last, operations, level, children, 0};
    int result = on ? OK : NO_MEMORY;
    for (int32_t k = 0; k < threads && !result; k++) on[k].last_end = INT64_MIN;
    for (int64_t i = 0, j = 0; (i < ranges || j < calls) && !result;) {
        int64_t at = i < ranges ? order[i] : 0;
        if (at < 0 || (i < ranges && at >= ranges)) { result = UNKNOWN; break; }
        if (i < ranges && (j == calls || r_start[at] <= c_start[j])) {
            i++;
            if (r_thread[at] >= threads) { result = UNKNOWN; break; }
            if (r_thread[at] < 0 || bad[r_thread[at]]) continue;
            thread *t = &on[r_thread[at]];
            int64_t start = r_start[at], end = r_end[at];
            /* what ends where this begins is over, but for an instant */
            while (t->depth && t->open[t->depth - 1].end < start + (start != end)) closed(t, &p);
            /* two instants at which one range ends and another begins are not told apart by a stack */
            if ((t->depth && t->open[t->depth - 1].end < end) || (start == end && t->last_end == start)) {
                bad[r_thread[at]] = 1;
                continue;
            }
            if (t->depth == t->room) {
                void *open = grown(t->open, t->depth + 1, &t->room, sizeof *t->open);
                if (!open) { result = NO_MEMORY; break; }
                t->open = open;
            }
            t->open[t->depth++] = (range){at, end, INT64_MAX, INT64_MIN, 0, 0, 0};
        } else {
            int64_t call = j++;
            if (c_thread[call] >= threads) { result = UNKNOWN; break; }
            if (c_thread[call] < 0 || bad[c_thread[call]]) continue;
            thread *t = &on[c_thread[call]];
            int64_t start = c_start[call], end = c_end[call];
            while (t->depth && t->open[t->depth - 1].end < start) closed(t, &p);
            if (start == end && t->last_end == start) { bad[c_thread[call]] = 1; continue; }
            size_t low = 0, high = t->depth;  /* ends fall towards the innermost: how many of them hold the call */
            while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (t->open[middle].end >= end) low = middle + 1; else high = middle;
            }
            if (!low) continue;
            range *r = &t->open[low - 1];
            if (c_first[call] < r->first) r->first = c_first[call];
            if (c_last[call] > r->last) r->last = c_last[call];
            r->operations += c_operations[call];
            r->is_hit = 1;
        }
    }
    for (int32_t k = 0; k < threads && on; k++) {
        while (!result && !bad[k] && on[k].depth) closed(&on[k], &p);
        free(on[k].open);
    }
    free(on);
    *filled = p.filled;
    return result;
}

/* ---- Statistics by group ----------------------------------------------------------------------------------------- */

static inline uint64_t random_number(uint64_t *state) {      /* Marsaglia, "Xorshift RNGs", 2003 */
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

/* The k-th smallest (Hoare's FIND, 1961); pivots are random, so that no file can make it slow. Reorders `v`: all before
 * k are no larger, all behind it no smaller. */
static int64_t selected(int64_t *v, int64_t n, int64_t k, uint64_t *state) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        int64_t pivot = v[low + (int64_t)(random_number(state) % (uint64_t)(high - low + 1))], i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) { int64_t swapped = v[i]; v[i++] = v[j]; v[j--] = swapped; }
        }
        if (k <= j) high = j; else if (k >= i) low = i; else break;
    }
    return v[k];
}

/* Of the values of each group 0 .. groups: count, sum, mean, median, least, most, sample standard deviation (of a
 * single value 0); all 0 of an empty group. The sum is exact; UNKNOWN where one does not fit into 64 bits. */
EXPORT int ws_statistics(const int64_t *value, const uint32_t *group, int64_t n, uint32_t groups, int64_t *count,
                         int64_t *sum, double *mean, double *median, int64_t *least, int64_t *most, double *deviation,
                         uint64_t seed) {
    int64_t *at = calloc((size_t)groups + 1, sizeof *at), *v = malloc((size_t)(n ? n : 1) * sizeof *v);
    int result = at && v ? OK : NO_MEMORY;
    for (uint32_t g = 0; g < groups; g++) count[g] = 0;
    for (int64_t i = 0; i < n && !result; i++) if (group[i] < groups) count[group[i]]++; else result = UNKNOWN;
    for (uint32_t g = 0; g < groups && !result; g++) at[g + 1] = at[g] + count[g];
    for (int64_t i = 0; i < n && !result; i++) v[at[group[i]]++] = value[i];     /* at[g] is now where group g ends */
    for (uint32_t g = 0; g < groups && !result; g++) {
        int64_t c = count[g], *x = v + at[g] - c, low = 0, high = 0;
        sum[g] = least[g] = most[g] = 0;
        mean[g] = median[g] = deviation[g] = 0;
        if (!c) continue;
        __int128_t total = 0;
        low = high = x[0];
        for (int64_t i = 0; i < c; i++) {
            total += x[i];
            if (x[i] < low) low = x[i];
            if (x[i] > high) high = x[i];
        }
        if (total > INT64_MAX || total < INT64_MIN) { result = UNKNOWN; break; }
        sum[g] = (int64_t)total; least[g] = low; most[g] = high;
        double centre = mean[g] = (double)(int64_t)total / (double)c, squares = 0, error = 0;
        for (int64_t i = 0; i < c; i++) { double d = (double)x[i] - centre; squares += d * d; error += d; }
        if (c > 1) deviation[g] = sqrt(fmax(squares - error * error / (double)c, 0) / (double)(c - 1));
        int64_t upper = selected(x, c, c / 2, &seed), lower = upper;
        if (!(c & 1)) {
            lower = x[0];
            for (int64_t i = 1; i < c / 2; i++) if (x[i] > lower) lower = x[i];
        }
        median[g] = ((double)lower + (double)upper) / 2;
    }
    free(at); free(v);
    return result;
}
