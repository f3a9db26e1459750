#include "support/host.h"
#include "support/test.h"
#include "engine/stats.h"
#include "engine/store_inside.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EPOCH = 0xC0FFEE };

static const swp__identity ana = {1, 0}, ben = {2, 0}, everybody = {0, 0};

typedef struct fixture {
    swp__test_memory memory;
    swp_engine *engine;
    swp__store *store;
} fixture;

static fixture *new_fixture(void)
{
    fixture *f = calloc(1, sizeof *f);
    swp_allocator allocator = swp__test_allocator(&f->memory);
    swp_engine_options options = {.threads = 1, .allocator = &allocator};
    swp__limits limits = swp__limits_standard();
    assert_int_equal(swp__engine_new(&options, &limits, true, &f->engine, NULL), SWP_OK);
    assert_int_equal(swp__store_new(f->engine, EPOCH, &f->store, NULL), SWP_OK);
    return f;
}

static void free_fixture(fixture *f)
{
    swp__store_free(f->store);
    swp_engine_free(f->engine);
    assert_int_equal(f->memory.live_count, 0);
    free(f);
}

static swp__scope *new_scope(fixture *f, swp__identity identity)
{
    swp__scope *scope;
    assert_int_equal(swp__scope_new(f->store, identity, &scope, NULL), SWP_OK);
    return scope;
}

/* Loads closes under a policy. */
static swp_status load_under(swp__scope *scope, const double *close, uint64_t count, uint32_t policy, swp__series_info *info,
                             swp_error *error)
{
    swp__load *load;
    swp_status status = swp__load_new(scope, &(swp__shape){count, SWP__SERIES_CLOSE, policy}, &load, error);
    if (status == SWP_OK) {
        memcpy(swp__load_column(load, SWP__SERIES_CLOSE), close, count * sizeof *close);
        status = swp__load_commit(load, info, error);
    }
    return status;
}

/* `count` closes, first, first + 1 ...; the handle. */
static uint64_t load_ramp(swp__scope *scope, double first, uint64_t count)
{
    double *close = malloc(count * sizeof *close);
    for (uint64_t i = 0; i < count; i++) {
        close[i] = first + (double)i;
    }
    swp__series_info info;
    assert_int_equal(load_under(scope, close, count, 0, &info, NULL), SWP_OK);
    free(close);
    return info.handle;
}

static bool is_in_use(swp__scope *scope, uint64_t handle)
{
    const swp_series *series;
    swp_status status = swp__store_take(scope, handle, &series, NULL);
    if (status == SWP_OK) {
        swp__store_give(scope->store, series);
    }
    return status == SWP_OK;
}

static swp_status find(swp__scope *scope, swp__fingerprint fingerprint, uint64_t count, uint32_t policy, swp__series_info *info)
{
    return swp__scope_find(scope, fingerprint, &(swp__shape){count, SWP__SERIES_CLOSE, policy}, info, NULL);
}

static void drop(swp__scope *scope, uint64_t handle)
{
    assert_int_equal(swp__scope_drop(scope, handle, NULL), SWP_OK);
}

/* ---- content ---- */

TEST(store_load_says_what_it_holds_and_a_sweep_runs_over_it)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    const double close[] = {1.0, 2.0};
    swp__series_info info;
    assert_int_equal(load_under(scope, close, 2, 0, &info, NULL), SWP_OK);
    assert_int_equal(info.handle >> 32, EPOCH);
    unsigned char bytes[16]; /* protocol.md, "fingerprint" */
    memcpy(bytes, &info.fingerprint, sizeof bytes);
    const unsigned char expected[] = {0x31, 0x35, 0xb6, 0x30, 0x3e, 0x72, 0x29, 0x20,
                                      0xb2, 0x36, 0xbb, 0xd0, 0xd9, 0x4e, 0x5d, 0xcd};
    assert_memory_equal(bytes, expected, sizeof bytes);
    assert_true(info.is_fingerprinted && info.is_counted);
    assert_int_equal(info.bars_count, 2);
    assert_int_equal(info.nan_count, 0);
    assert_bits_equal(info.first, 1.0);
    assert_bits_equal(info.last, 2.0);
    const swp_series *series;
    assert_int_equal(swp__store_take(scope, info.handle, &series, NULL), SWP_OK);
    assert_int_equal(swp_series_bars_count(series), 2);
    int64_t row[] = {1, 1, 1, 1, 1, 1}, trades = -1;
    swp_sweep_request request = {.grid = {.form = SWP_GRID_ROWS, .combos_count = 1, .rows = row}};
    assert_int_equal(swp_sweep(f->engine, series, &request, &(swp_sweep_result){.trades = &trades}, NULL), SWP_OK);
    assert_int_equal(trades, 0);
    swp__store_give(f->store, series);
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_columns_are_aligned_and_hashed_in_the_order_of_their_bits)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    const double close[] = {1, 2, 3}, low[] = {0.5, -1, (double)NAN};
    const int64_t time[] = {-5, 0, 7};
    swp__load *load;
    swp__series_info info;
    const swp__shape shape = {3, SWP__SERIES_CLOSE | SWP__SERIES_LOW | SWP__SERIES_TIME, 0};
    assert_int_equal(swp__load_new(scope, &shape, &load, NULL), SWP_OK);
    double *at_close = swp__load_column(load, SWP__SERIES_CLOSE), *at_low = swp__load_column(load, SWP__SERIES_LOW);
    int64_t *at_time = swp__load_column(load, SWP__SERIES_TIME);
    assert_true((uintptr_t)at_close % 64 == 0 && (uintptr_t)at_low % 64 == 0 && (uintptr_t)at_time % 64 == 0);
    memcpy(at_close, close, sizeof close);
    memcpy(at_low, low, sizeof low);
    memcpy(at_time, time, sizeof time);
    assert_int_equal(swp__load_commit(load, &info, NULL), SWP_OK);
    unsigned char all[sizeof close + sizeof low + sizeof time];
    memcpy(all, close, sizeof close);
    memcpy(all + sizeof close, low, sizeof low);
    memcpy(all + sizeof close + sizeof low, time, sizeof time);
    assert_true(swp__fingerprint_equal(info.fingerprint, swp__fingerprint_of(all, sizeof all)));
    assert_int_equal(info.nan_count, 0); /* of closes */
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_refuses_the_first_close_or_time_at_any_step)
{
    enum { BARS = 300 };
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    for (size_t kind = 0; kind < 4; kind++) {
        for (uint64_t piece = 8; piece <= 4096; piece = piece * 3 / 8 * 8 + 8) {
            swp__load *load;
            assert_int_equal(
                swp__load_new(scope, &(swp__shape){BARS, SWP__SERIES_CLOSE | SWP__SERIES_TIME, SWP_ALLOW_NAN}, &load, NULL),
                SWP_OK);
            double *close = swp__load_column(load, SWP__SERIES_CLOSE);
            int64_t *time = swp__load_column(load, SWP__SERIES_TIME);
            swp__test_walk(close, BARS, 1);
            for (int64_t i = 0; i < BARS; i++) {
                time[i] = 10 * i - 500;
            }
            close[3] = (double)NAN;
            time[200] = kind >= 1 ? time[199] : time[200];
            close[250] = kind >= 2 ? (double)INFINITY : close[250];
            close[251] = kind >= 2 ? 0.0 : close[251];
            time[0] = kind == 3 ? INT64_MIN : time[0];
            for (uint64_t ready = 0; ready < 16 * BARS; ready += piece / 2 + 1) { /* as a reader would tell */
                swp__load_ready(load, ready);
                swp__load_work(load, piece);
            }
            swp_error error;
            swp__series_info info;
            swp_status status = swp__load_commit(load, &info, &error);
            assert_int_equal(status, kind == 0 ? SWP_OK : SWP_BAD_PARAM);
            if (kind == 0) {
                assert_int_equal(info.nan_count, 1);
                continue;
            }
            assert_int_equal(error.at, kind == 1 ? 200 : 250);
            assert_string_equal(error.message, kind == 1
                                                   ? "time of bar 200, 1490, is not after 1490, that of the bar before"
                                                   : "close of bar 250, Infinity, is infinite; allow \"inf\" to let it in");
        }
    }
    assert_int_equal(swp__store_count(f->store).series, 1);
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_holds_the_same_content_of_one_identity_once)
{
    fixture *f = new_fixture();
    swp__scope *one = new_scope(f, ana), *two = new_scope(f, ana), *other = new_scope(f, ben);
    uint64_t handle = load_ramp(one, 1, 1000);
    assert_int_equal(load_ramp(one, 1, 1000), handle);
    assert_int_equal(load_ramp(two, 1, 1000), handle);
    assert_int_equal(swp__store_count(f->store).series, 1);
    assert_int_equal(swp__store_count(f->store).loads, 3);
    assert_int_equal(swp__store_count(f->store).merges, 2);
    assert_true(load_ramp(other, 1, 1000) != handle);
    assert_int_equal(swp__store_count(f->store).series, 2);
    assert_true(load_ramp(one, 2, 1000) != handle);
    drop(one, handle);
    assert_true(is_in_use(one, handle)); /* loaded twice here */
    drop(one, handle);
    assert_false(is_in_use(one, handle));
    assert_true(is_in_use(two, handle));
    swp__scope_free(one);
    swp__scope_free(two);
    swp__scope_free(other);
    free_fixture(f);
}

TEST(store_takes_series_of_one_fingerprint_for_the_same_only_when_their_bytes_are)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    uint64_t first = load_ramp(scope, 1, 1000);
    const swp_series *series;
    assert_int_equal(swp__store_take(scope, first, &series, NULL), SWP_OK);
    ((double *)(uintptr_t)series->close)[999] = 5.0; /* now its fingerprint stands for other bytes */
    swp__store_give(f->store, series);
    uint64_t second = load_ramp(scope, 1, 1000);
    assert_true(second != first);
    assert_int_equal(load_ramp(scope, 1, 1000), second);
    assert_int_equal(swp__store_count(f->store).series, 2);
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_finds_content_of_its_identity_or_everybodys_under_a_policy_it_satisfies)
{
    fixture *f = new_fixture();
    swp__scope *mine = new_scope(f, ana), *again = new_scope(f, ana), *other = new_scope(f, ben);
    swp__scope *server = new_scope(f, everybody);
    const double close[] = {1, (double)NAN, 3, -4};
    swp__series_info info, found;
    assert_int_equal(load_under(mine, close, 4, SWP_ALLOW_ALL, &info, NULL), SWP_OK);
    const swp__fingerprint print = info.fingerprint;
    assert_int_equal(find(again, print, 4, 0, &found), SWP_NOT_FOUND);
    assert_int_equal(find(again, print, 4, SWP_ALLOW_NAN, &found), SWP_NOT_FOUND);
    assert_int_equal(find(again, print, 4, SWP_ALLOW_INF | SWP_ALLOW_NONPOSITIVE, &found), SWP_NOT_FOUND);
    assert_int_equal(find(again, print, 5, SWP_ALLOW_ALL, &found), SWP_NOT_FOUND);
    assert_int_equal(find(other, print, 4, SWP_ALLOW_ALL, &found), SWP_NOT_FOUND);
    assert_int_equal(find(again, print, 4, SWP_ALLOW_NAN | SWP_ALLOW_NONPOSITIVE, &found), SWP_OK);
    assert_int_equal(found.handle, info.handle);
    assert_int_equal(found.nan_count, 1);
    assert_true(is_in_use(again, info.handle));
    assert_int_equal(load_under(server, close, 4, SWP_ALLOW_ALL, &info, NULL), SWP_OK);
    assert_int_equal(find(other, print, 4, SWP_ALLOW_ALL, &found), SWP_OK);
    assert_int_equal(found.handle, info.handle);
    assert_int_equal(load_under(other, close, 4, SWP_ALLOW_ALL, &found, NULL), SWP_OK); /* merged with the server's */
    assert_int_equal(found.handle, info.handle);
    assert_int_equal(swp__store_count(f->store).finds, 2);
    assert_int_equal(swp__store_count(f->store).misses, 5);
    swp__scope_free(mine);
    swp__scope_free(again);
    swp__scope_free(other);
    swp__scope_free(server);
    free_fixture(f);
}

TEST(store_refuses_a_shape_that_is_none)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    const swp__shape shapes[] = {{0, 1, 0}, {1, 0, 0}, {1, SWP__SERIES_OPEN, 0}, {1, 65, 0}, {1, 1, 8}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        swp__load *load;
        uint64_t upload;
        swp__series_info info;
        assert_int_equal(swp__load_new(scope, &shapes[i], &load, NULL), SWP_BAD_PARAM);
        assert_int_equal(swp__upload_new(scope, &shapes[i], &upload, NULL), SWP_BAD_PARAM);
        assert_int_equal(swp__scope_find(scope, (swp__fingerprint){0, 0}, &shapes[i], &info, NULL), SWP_BAD_PARAM);
    }
    swp__scope_free(scope);
    free_fixture(f);
}

/* ---- handles ---- */

static void assert_no_handle(swp__scope *scope, uint64_t handle, const char *message)
{
    const swp_series *series;
    swp_error error;
    assert_int_equal(swp__store_take(scope, handle, &series, &error), SWP_NOT_FOUND);
    assert_string_equal(error.message, message);
    assert_int_equal(swp__scope_drop(scope, handle, NULL), SWP_NOT_FOUND);
    assert_int_equal(swp__scope_name(scope, handle, "x", 1, NULL), SWP_NOT_FOUND);
    assert_int_equal(swp__scope_pin(scope, handle, NULL), SWP_NOT_FOUND);
    swp__series_info info;
    assert_int_equal(swp__scope_hash(scope, handle, &info, NULL), SWP_NOT_FOUND);
}

TEST(store_handles_are_good_where_they_were_given_and_never_given_again)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana), *same_user = new_scope(f, ana);
    uint64_t handle = load_ramp(scope, 1, 10);
    assert_int_equal(handle, UINT64_C(0xC0FFEE00000001));
    assert_no_handle(same_user, handle, "handle 0xc0ffee00000001 is not in use on this connection, or was dropped");
    assert_no_handle(scope, handle + 1, "handle 0xc0ffee00000002 was never given");
    assert_no_handle(scope, 1, "handle 0x1 is from another run of the server");
    f->engine->limits.max_memory = swp__store_count(f->store).bytes;
    drop(scope, handle);
    load_ramp(scope, 2, 10); /* evicts the first */
    assert_int_equal(swp__store_count(f->store).evictions, 1);
    f->engine->limits.max_memory *= 2;
    assert_int_equal(load_ramp(scope, 1, 10), handle + 2);
    f->store->serial = UINT32_MAX - 1;
    f->engine->limits.max_memory *= 10;
    assert_int_equal(load_ramp(scope, 3, 10) & UINT32_MAX, UINT32_MAX);
    const double close[] = {1, 2, 3};
    swp__series_info info;
    swp_error error;
    assert_int_equal(load_under(scope, close, 3, 0, &info, &error), SWP_LIMIT);
    uint64_t upload;
    assert_int_equal(swp__upload_new(scope, &(swp__shape){3, 1, 0}, &upload, &error), SWP_LIMIT);
    swp__scope_free(scope);
    swp__scope_free(same_user);
    free_fixture(f);
}

TEST(store_series_in_a_sweep_outlives_its_handle_and_its_scope)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana), *other = new_scope(f, ben);
    uint64_t handle = load_ramp(scope, 1, 1000);
    const swp_series *series;
    assert_int_equal(swp__store_take(scope, handle, &series, NULL), SWP_OK);
    drop(scope, handle);
    swp__scope_free(scope);
    f->engine->limits.max_memory = swp__store_count(f->store).bytes;
    swp__load *load;
    assert_int_equal(swp__load_new(other, &(swp__shape){1000, 1, 0}, &load, NULL), SWP_LIMIT);
    assert_bits_equal(series->close[999], 1000.0);
    swp__store_give(f->store, series);
    assert_int_equal(swp__load_new(other, &(swp__shape){1000, 1, 0}, &load, NULL), SWP_OK);
    assert_int_equal(swp__store_count(f->store).series, 0);
    swp__load_free(load);
    swp__scope_free(other);
    free_fixture(f);
}

/* ---- names ---- */

static swp_status open_named(swp__scope *scope, const char *name, swp__series_info *info)
{
    return swp__scope_open(scope, name, strlen(name), info, NULL);
}

static swp_status give_name(swp__scope *scope, uint64_t handle, const char *name)
{
    return swp__scope_name(scope, handle, name, strlen(name), NULL);
}

TEST(store_names_belong_to_an_identity_and_go_with_the_series)
{
    fixture *f = new_fixture();
    swp__scope *mine = new_scope(f, ana), *again = new_scope(f, ana), *other = new_scope(f, ben);
    swp__scope *server = new_scope(f, everybody);
    swp__series_info info;
    uint64_t one = load_ramp(mine, 1, 10), two = load_ramp(mine, 2, 10), theirs = load_ramp(other, 3, 10);
    assert_int_equal(give_name(mine, one, "spy"), SWP_OK);
    assert_int_equal(give_name(mine, one, "spy"), SWP_OK);
    assert_int_equal(give_name(mine, one, "the same"), SWP_OK);
    assert_int_equal(give_name(mine, two, "spy"), SWP_BAD_PARAM);
    assert_int_equal(give_name(other, theirs, "spy"), SWP_OK);
    assert_int_equal(open_named(again, "spy", &info), SWP_OK);
    assert_int_equal(info.handle, one);
    assert_int_equal(open_named(other, "spy", &info), SWP_OK);
    assert_int_equal(info.handle, theirs);
    assert_int_equal(open_named(other, "the same", &info), SWP_NOT_FOUND);
    uint64_t shared = load_ramp(server, 4, 10);
    assert_int_equal(give_name(server, shared, "shared"), SWP_OK);
    assert_int_equal(open_named(other, "shared", &info), SWP_OK);
    assert_int_equal(give_name(other, theirs, "shared"), SWP_BAD_PARAM);
    drop(mine, one);
    drop(again, one);
    assert_int_equal(open_named(again, "the same", &info), SWP_OK); /* unused, but held */
    drop(again, one);
    f->engine->limits.max_memory = swp__store_count(f->store).bytes;
    load_ramp(mine, 5, 10);
    assert_int_equal(open_named(again, "spy", &info), SWP_NOT_FOUND);
    assert_int_equal(give_name(mine, two, "spy"), SWP_OK);
    swp__scope_free(mine);
    swp__scope_free(again);
    swp__scope_free(other);
    swp__scope_free(server);
    free_fixture(f);
}

TEST(store_names_are_1_to_255_bytes_and_as_many_as_the_limit)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    uint64_t handle = load_ramp(scope, 1, 10);
    char name[257];
    memset(name, 'n', sizeof name);
    swp__series_info info;
    assert_int_equal(swp__scope_name(scope, handle, name, 0, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp__scope_name(scope, handle, name, 256, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp__scope_open(scope, name, 0, &info, NULL), SWP_BAD_PARAM);
    assert_int_equal(swp__scope_open(scope, name, 256, &info, NULL), SWP_BAD_PARAM);
    f->engine->limits.max_names = 2;
    assert_int_equal(swp__scope_name(scope, handle, name, 255, NULL), SWP_OK);
    assert_int_equal(swp__scope_open(scope, name, 255, &info, NULL), SWP_OK);
    assert_int_equal(swp__scope_name(scope, handle, name, 1, NULL), SWP_OK);
    swp_error error;
    assert_int_equal(swp__scope_name(scope, handle, name, 2, &error), SWP_LIMIT);
    assert_int_equal(error.a, 2);
    assert_int_equal(error.b, 3);
    swp__scope_free(scope);
    free_fixture(f);
}

static char *list_of(swp__scope *scope)
{
    size_t size = swp__scope_list(scope, NULL, 0);
    char *text = malloc(size + 1);
    assert_int_equal(swp__scope_list(scope, text, size), size);
    text[size] = '\0';
    return text;
}

TEST(store_list_is_json_of_what_the_identity_may_open_or_find)
{
    fixture *f = new_fixture();
    swp__scope *mine = new_scope(f, ana), *other = new_scope(f, ben), *server = new_scope(f, everybody);
    char *text = list_of(mine);
    assert_string_equal(text, "[]\n");
    free(text);
    swp__series_info info;
    assert_int_equal(load_under(server, (const double[]){1.0, 2.0}, 2, 0, &info, NULL), SWP_OK);
    assert_int_equal(give_name(server, info.handle, "a \"quoted\" \\ name"), SWP_OK);
    assert_int_equal(swp__scope_pin(server, info.handle, NULL), SWP_OK);
    load_ramp(other, 7, 3);
    text = list_of(mine);
    assert_string_equal(text, "[\n{\"name\": \"a \\\"quoted\\\" \\\\ name\", \"handle\": \"0xc0ffee00000001\", \"bars\": 2, "
                              "\"columns\": [\"close\"], \"bytes\": 16, \"fingerprint\": \"cd5d4ed9d0bb36b22029723e30b63531\", "
                              "\"pinned\": true}]\n");
    free(text);
    load_ramp(mine, 9, 4);
    text = list_of(mine);
    assert_non_null(strstr(text, "[\n{\"name\": null, \"handle\": \"0xc0ffee00000003\", \"bars\": 4, "));
    assert_non_null(strstr(text, "\"pinned\": false},\n{\"name\": \"a "));
    assert_null(strstr(text, "\"bars\": 3"));
    free(text);
    swp__scope_free(mine);
    swp__scope_free(other);
    swp__scope_free(server);
    free_fixture(f);
}

/* ---- memory ---- */

TEST(store_evicts_what_was_used_longest_ago_and_never_what_is_in_use_or_pinned)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana), *other = new_scope(f, ben);
    uint64_t handles[4];
    swp__fingerprint prints[4];
    swp__series_info info;
    for (size_t i = 0; i < 4; i++) {
        handles[i] = load_ramp(scope, (double)(i + 1), 100);
        assert_int_equal(swp__scope_hash(scope, handles[i], &info, NULL), SWP_OK);
        prints[i] = info.fingerprint;
    }
    uint64_t each = swp__store_count(f->store).bytes / 4;
    f->engine->limits.max_memory = 4 * each;
    assert_int_equal(swp__scope_pin(scope, handles[0], NULL), SWP_OK);
    drop(scope, handles[0]);
    drop(scope, handles[2]);
    drop(scope, handles[1]);
    assert_int_equal(swp__store_count(f->store).series_unused, 2);
    assert_int_equal(swp__store_count(f->store).bytes_unused, 2 * each);
    uint64_t new = load_ramp(other, 10, 100);
    assert_int_equal(find(scope, prints[2], 100, 0, &info), SWP_NOT_FOUND); /* dropped first */
    assert_int_equal(find(scope, prints[1], 100, 0, &info), SWP_OK);
    swp__load *load;
    swp_error error;
    assert_int_equal(swp__load_new(other, &(swp__shape){100, 1, 0}, &load, &error), SWP_LIMIT);
    assert_int_equal(error.a, 4 * each);
    assert_int_equal(error.b, 5 * each);
    assert_int_equal(find(scope, prints[0], 100, 0, &info), SWP_OK); /* pinned */
    drop(other, new);
    assert_int_equal(swp__load_new(other, &(swp__shape){100, 1, 0}, &load, NULL), SWP_OK);
    assert_int_equal(swp__store_count(f->store).bytes, 4 * each);
    swp__load_free(load);
    assert_int_equal(swp__store_count(f->store).bytes, 3 * each);
    swp__scope_free(scope);
    swp__scope_free(other);
    free_fixture(f);
}

TEST(store_holds_up_to_max_memory_and_a_refused_load_evicts_nothing)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    swp__load *load;
    swp_error error;
    assert_int_equal(swp__load_new(scope, &(swp__shape){5000, 63, 0}, &load, NULL), SWP_OK);
    uint64_t bytes = swp__store_count(f->store).bytes;
    assert_in_range(bytes, 5000 * 48, 5000 * 48 + 1024);
    swp__load_free(load);
    f->engine->limits.max_memory = bytes;
    assert_int_equal(swp__load_new(scope, &(swp__shape){5000, 63, 0}, &load, NULL), SWP_OK);
    swp__load_free(load);
    uint64_t handle = load_ramp(scope, 1, 10);
    drop(scope, handle);
    f->engine->limits.max_memory = bytes - 1;
    assert_int_equal(swp__load_new(scope, &(swp__shape){5000, 63, 0}, &load, &error), SWP_LIMIT);
    assert_int_equal(error.a, bytes - 1);
    assert_int_equal(error.b, bytes);
    assert_int_equal(swp__store_count(f->store).evictions, 0);
    const uint64_t huge[] = {UINT64_MAX, UINT64_MAX / 8, UINT64_MAX / 48, UINT64_C(1) << 58, UINT64_C(1) << 40};
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++) {
        uint64_t upload;
        assert_int_equal(swp__load_new(scope, &(swp__shape){huge[i], 63, 0}, &load, &error), SWP_LIMIT);
        assert_true(error.b > UINT64_C(1) << 43);
        assert_int_equal(swp__upload_new(scope, &(swp__shape){huge[i], 63, 0}, &upload, &error), SWP_LIMIT);
    }
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_scope_uses_as_many_series_as_the_limit)
{
    fixture *f = new_fixture();
    f->engine->limits.max_handles = 2;
    swp__scope *scope = new_scope(f, ana);
    uint64_t one = load_ramp(scope, 1, 10);
    load_ramp(scope, 2, 10);
    swp__load *load;
    swp_error error;
    assert_int_equal(swp__load_new(scope, &(swp__shape){10, 1, 0}, &load, &error), SWP_LIMIT);
    assert_int_equal(error.a, 2);
    assert_int_equal(error.b, 3);
    swp__series_info info;
    assert_int_equal(give_name(scope, one, "one"), SWP_OK);
    assert_int_equal(open_named(scope, "one", &info), SWP_OK); /* a use more of the same */
    drop(scope, one);
    drop(scope, one);
    assert_int_equal(swp__load_new(scope, &(swp__shape){10, 1, 0}, &load, NULL), SWP_OK);
    assert_int_equal(open_named(scope, "one", &info), SWP_OK); /* taken meanwhile */
    memset(swp__load_column(load, SWP__SERIES_CLOSE), 0x40, 80);
    assert_int_equal(swp__load_commit(load, &info, &error), SWP_LIMIT);
    assert_int_equal(swp__store_count(f->store).series, 2);
    swp__scope_free(scope);
    free_fixture(f);
}

/* ---- uploads ---- */

static void send_part(swp__scope *scope, uint64_t upload, uint32_t column, uint64_t first, const void *values, uint64_t count)
{
    void *memory;
    assert_int_equal(swp__upload_part(scope, upload, column, first, count, &memory, NULL), SWP_OK);
    memcpy(memory, values, count * 8);
}

TEST(store_upload_takes_parts_in_any_order_and_the_later_of_two)
{
    enum { BARS = 333 };
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    double close[BARS];
    int64_t time[BARS];
    for (int64_t i = 0; i < BARS; i++) {
        close[i] = 1.0 + (double)i;
        time[i] = i;
    }
    const double wrong[] = {-1, -1, -1};
    uint64_t upload;
    assert_int_equal(swp__upload_new(scope, &(swp__shape){BARS, SWP__SERIES_CLOSE | SWP__SERIES_TIME, 0}, &upload, NULL),
                     SWP_OK);
    send_part(scope, upload, SWP__SERIES_TIME, 0, time, 128);
    send_part(scope, upload, SWP__SERIES_TIME, 128, time + 128, BARS - 128);
    send_part(scope, upload, SWP__SERIES_CLOSE, 100, wrong, 3);
    send_part(scope, upload, SWP__SERIES_CLOSE, 64, close + 64, 64);
    send_part(scope, upload, SWP__SERIES_CLOSE, 0, close, 63);
    send_part(scope, upload, SWP__SERIES_CLOSE, 128, close + 128, BARS - 129);
    swp__load *load;
    swp_error error;
    assert_int_equal(swp__upload_end(scope, upload, &load, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 63);
    send_part(scope, upload, SWP__SERIES_CLOSE, 63, close + 63, 1);
    assert_int_equal(swp__upload_end(scope, upload, &load, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, BARS - 1);
    assert_string_equal(error.message, "upload: bar 332 of column 0 is missing");
    send_part(scope, upload, SWP__SERIES_CLOSE, BARS - 1, close + BARS - 1, 1);
    assert_int_equal(swp__upload_end(scope, upload, &load, NULL), SWP_OK);
    assert_int_equal(swp__upload_end(scope, upload, &load, NULL), SWP_NOT_FOUND);
    swp__series_info info;
    assert_int_equal(swp__load_commit(load, &info, NULL), SWP_OK);
    unsigned char all[sizeof close + sizeof time];
    memcpy(all, close, sizeof close);
    memcpy(all + sizeof close, time, sizeof time);
    assert_true(swp__fingerprint_equal(info.fingerprint, swp__fingerprint_of(all, sizeof all)));
    assert_bits_equal(info.last, BARS);
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(store_upload_refuses_parts_that_do_not_fit_and_ends_with_drop_or_scope)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana), *other = new_scope(f, ana);
    f->engine->limits.max_uploads = 2;
    uint64_t uploads[3];
    const swp__shape shape = {64, SWP__SERIES_CLOSE | SWP__SERIES_LOW, 0};
    assert_int_equal(swp__upload_new(scope, &shape, &uploads[0], NULL), SWP_OK);
    assert_int_equal(swp__upload_new(scope, &shape, &uploads[1], NULL), SWP_OK);
    swp_error error;
    assert_int_equal(swp__upload_new(scope, &shape, &uploads[2], &error), SWP_LIMIT);
    assert_int_equal(error.a, 2);
    assert_int_equal(error.b, 3);
    void *memory;
    const struct {
        uint32_t column;
        uint64_t first, count;
    } bad[] = {{2, 0, 1}, {9, 0, 1}, {0, 0, 1}, {1, 64, 1}, {1, 0, 65}, {1, 63, 2}, {1, 1, UINT64_MAX}, {1, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(swp__upload_part(scope, uploads[0], bad[i].column, bad[i].first, bad[i].count, &memory, NULL),
                         SWP_BAD_PARAM);
    }
    assert_int_equal(swp__upload_part(other, uploads[0], 1, 0, 1, &memory, NULL), SWP_NOT_FOUND);
    assert_int_equal(swp__upload_part(scope, uploads[0], 8, 0, 64, &memory, NULL), SWP_OK);
    drop(scope, uploads[0]);
    assert_int_equal(swp__upload_part(scope, uploads[0], 1, 0, 1, &memory, NULL), SWP_NOT_FOUND);
    assert_int_equal(swp__scope_drop(scope, uploads[0], NULL), SWP_NOT_FOUND);
    assert_int_equal(swp__upload_new(scope, &shape, &uploads[2], NULL), SWP_OK);
    swp__scope_free(scope);
    swp__scope_free(other);
    assert_int_equal(swp__store_count(f->store).bytes, 0);
    free_fixture(f);
}

/* ---- adopted memory ---- */

static void count_release(void *context, const void *memory, uint64_t size)
{
    uint64_t *released = context;
    assert_non_null(memory);
    *released += size;
}

TEST(store_adopted_memory_is_judged_at_first_use_and_found_once_hashed)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    double close[] = {1, 2, -3, 4};
    uint64_t released = 0;
    swp__series_info info, hashed;
    const swp_series *series;
    swp_error error;
    const swp__shape shape = {4, SWP__SERIES_CLOSE, 0};
    assert_int_equal(swp__store_adopt(scope, &shape, close, count_release, &released, &info, NULL), SWP_OK);
    assert_false(info.is_fingerprinted || info.is_counted);
    assert_bits_equal(info.last, 4.0);
    assert_int_equal(swp__store_take(scope, info.handle, &series, &error), SWP_BAD_PARAM);
    assert_int_equal(error.at, 2);
    assert_int_equal(swp__scope_hash(scope, info.handle, &hashed, &error), SWP_BAD_PARAM);
    drop(scope, info.handle);
    assert_int_equal(released, 32); /* nobody could find it again */
    close[2] = 3;
    assert_int_equal(swp__store_adopt(scope, &shape, close, count_release, &released, &info, NULL), SWP_OK);
    assert_int_equal(swp__store_take(scope, info.handle, &series, NULL), SWP_OK);
    assert_ptr_equal(series->close, close);
    swp__store_give(f->store, series);
    swp__fingerprint print = swp__fingerprint_of(close, sizeof close);
    assert_int_equal(find(scope, print, 4, 0, &hashed), SWP_NOT_FOUND);
    assert_int_equal(swp__scope_hash(scope, info.handle, &hashed, NULL), SWP_OK);
    assert_true(hashed.is_fingerprinted && hashed.is_counted && swp__fingerprint_equal(hashed.fingerprint, print));
    assert_int_equal(find(scope, print, 4, 0, &hashed), SWP_OK);
    assert_int_equal(hashed.handle, info.handle);
    assert_int_equal(load_ramp(scope, 1, 4), info.handle);
    swp__scope_free(scope);
    assert_int_equal(released, 32);
    free_fixture(f);
    assert_int_equal(released, 64);
}

/* ---- faults, threads, counters ---- */

/* Everything once; the first failure ends it. */
static swp_status live_a_day(swp__store *store)
{
    swp__scope *scope = NULL;
    swp__load *load = NULL;
    swp__series_info info;
    uint64_t upload;
    void *memory;
    swp_status status = swp__scope_new(store, ana, &scope, NULL);
    if (status == SWP_OK) {
        status = swp__load_new(scope, &(swp__shape){8, 1, 0}, &load, NULL);
    }
    if (status == SWP_OK) {
        memset(swp__load_column(load, 1), 0x40, 64);
        status = swp__load_commit(load, &info, NULL);
    }
    if (status == SWP_OK) {
        status = swp__scope_name(scope, info.handle, "day", 3, NULL);
    }
    if (status == SWP_OK) {
        status = swp__upload_new(scope, &(swp__shape){4, 1, 0}, &upload, NULL);
    }
    if (status == SWP_OK) {
        status = swp__upload_part(scope, upload, 1, 0, 4, &memory, NULL);
        memset(memory, 0x41, 32);
    }
    if (status == SWP_OK) {
        status = swp__upload_end(scope, upload, &load, NULL);
    }
    if (status == SWP_OK) {
        status = swp__load_commit(load, &info, NULL);
    }
    if (status == SWP_OK) {
        status = swp__store_adopt(scope, &(swp__shape){1, 1, 0}, &(double){3.0}, NULL, NULL, &info, NULL);
    }
    swp__scope_free(scope);
    return status;
}

TEST(store_answers_no_memory_for_each_allocation_that_fails_and_leaks_nothing)
{
    uint64_t nth = 0;
    swp_status status;
    do {
        fixture *f = calloc(1, sizeof *f);
        swp_allocator allocator = swp__test_allocator(&f->memory);
        assert_int_equal(
            swp__engine_new(&(swp_engine_options){.threads = 1, .allocator = &allocator}, NULL, true, &f->engine, NULL),
            SWP_OK);
        f->memory.fail_at = f->memory.allocs_count + ++nth;
        status = swp__store_new(f->engine, EPOCH, &f->store, NULL);
        if (status == SWP_OK) {
            status = live_a_day(f->store);
            assert_true(status == SWP_OK || status == SWP_NO_MEMORY);
            f->memory.fail_at = 0;
            assert_int_equal(live_a_day(f->store), SWP_OK); /* still in order */
        }
        assert_true(status == SWP_OK || status == SWP_NO_MEMORY);
        free_fixture(f);
    } while (status != SWP_OK);
    assert_true(nth > 15);
}

typedef struct client {
    fixture *f;
    uint64_t seed;
    int wrong;
} client;

/* Loads, finds and drops a few series that others do, too, so that they are merged, evicted and loaded again all the
 * time. */
static void *be_a_client(void *argument)
{
    client *c = argument;
    swp__scope *scope;
    c->wrong += swp__scope_new(c->f->store, ana, &scope, NULL) != SWP_OK;
    for (int i = 0; i < 300 && c->wrong == 0; i++) {
        c->seed = c->seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        double first = 1.0 + (double)(c->seed >> 61), close[50];
        for (int j = 0; j < 50; j++) {
            close[j] = first + j;
        }
        swp__series_info info;
        const swp_series *series;
        swp_status status = find(scope, swp__fingerprint_of(close, sizeof close), 50, 0, &info);
        if (status == SWP_NOT_FOUND) {
            status = load_under(scope, close, 50, 0, &info, NULL);
        }
        if (status == SWP_LIMIT) {
            continue;
        }
        c->wrong += status != SWP_OK || swp__store_take(scope, info.handle, &series, NULL) != SWP_OK;
        c->wrong += swp__scope_drop(scope, info.handle, NULL) != SWP_OK;
        if (c->wrong == 0) {
            c->wrong += memcmp(series->close, close, sizeof close) != 0;
            swp__store_give(c->f->store, series);
        }
    }
    swp__scope_free(scope);
    return NULL;
}

TEST(store_clients_on_several_threads_see_the_content_they_asked_for)
{
    enum { CLIENTS = 4 };
    fixture *f = new_fixture();
    client clients[CLIENTS];
    pthread_t threads[CLIENTS];
    swp__scope *scope = new_scope(f, ben);
    load_ramp(scope, 1, 50);
    f->engine->limits.max_memory = 7 * swp__store_count(f->store).bytes;
    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (client){f, i, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, be_a_client, &clients[i]), 0);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(clients[i].wrong, 0);
    }
    swp__store_counters counters = swp__store_count(f->store);
    assert_true(counters.series <= 7 && counters.evictions > 0);
    assert_int_equal(counters.series_unused, counters.series - 1);
    swp__scope_free(scope);
    free_fixture(f);
}

TEST(stats_text_has_help_type_and_value_of_each_counter)
{
    fixture *f = new_fixture();
    swp__scope *scope = new_scope(f, ana);
    load_ramp(scope, 1, 10);
    f->engine->counters.busy_ns = 1500000000;
    size_t size = swp__stats_text(f->engine, f->store, NULL, 0);
    char *text = calloc(1, size + 1);
    assert_int_equal(swp__stats_text(f->engine, f->store, text, size), size);
    assert_non_null(strstr(text, "# HELP sweepd_series Series held.\n# TYPE sweepd_series gauge\nsweepd_series 1\n"));
    assert_non_null(strstr(text, "\nsweepd_busy_seconds_total 1.500000000\n"));
    assert_non_null(strstr(text, "\nsweepd_series_limit_bytes 4294967296\n"));
    memset(text, 0, size);
    assert_int_equal(swp__stats_text(f->engine, NULL, text, 10), swp__stats_text(f->engine, NULL, NULL, 0));
    assert_string_equal(text, "# HELP swe");
    free(text);
    swp__scope_free(scope);
    free_fixture(f);
}
