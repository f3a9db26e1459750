/* Series made by rule: the study's random walk and the shapes that benches and tests run on. */
#ifndef SWP_BARS_GENERATE_H
#define SWP_BARS_GENERATE_H

#include "swp/error.h"

typedef struct swp__generate_options {
    const char *shape;   /* a name of swp__generate_shapes */
    uint64_t bars_count; /* >= 1 */
    uint64_t seed;
    double sigma; /* standard deviation of a bar's log return, where the shape has one */
    double start; /* price the series starts from */
} swp__generate_options;

/* "randwalk", "constant", ...: NULL at the end. */
extern const char *const swp__generate_shapes[];

/* Fills close[bars_count]. randwalk: close = start * exp(cumulative sum of sigma * z), z the stream of NumPy's
 * default_rng(seed).standard_normal. BAD_PARAM: the shape is not known, sigma or start not finite. */
swp_status swp__generate(const swp__generate_options *options, double *close, swp_error *error);

/* Writes closes as .npy, .f64 or .csv by the ending of `path`, whole or not at all (a temporary file beside it, then a
 * rename). FILE, or BAD_PARAM for another ending. */
swp_status swp__closes_write(const char *path, const double *close, uint64_t bars_count, swp_error *error);

#endif
