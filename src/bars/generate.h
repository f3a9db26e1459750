/* Series made by rule: the study's random walk and the shapes that benches and tests run on. */
#ifndef SWP_BARS_GENERATE_H
#define SWP_BARS_GENERATE_H

#include "swp/engine.h" /* swp_cancel */

typedef struct swp__generate_options {
    const char *shape;   /* a name of swp__generate_shapes */
    uint64_t bars_count; /* >= 1 */
    uint64_t seed;
    double sigma; /* standard deviation of a bar's log return, where the shape has one */
    double start; /* price the series starts from, where the shape does not set it */
} swp__generate_options;

/* "randwalk", "constant", ...: NULL at the end. */
extern const char *const swp__generate_shapes[];

/* One line for --help on each, in the same order. */
extern const char *const swp__generate_shape_abouts[];

/* Fills close[bars_count]; the same options give the same closes. randwalk: close = start * exp(cumulative sum of sigma
 * * z), z the stream of NumPy's default_rng(seed).standard_normal. Shapes that walk do so on that same walk. BAD_PARAM:
 * the shape is not known (the text lists those that are), bars_count is 0, sigma or start is not finite. */
SWP_MUST_CHECK swp_status swp__generate(const swp__generate_options *options, double *close, swp_error *error);

/* Writes by the ending of `path`: .npy (1-D little-endian f8, version 1.0), .f64 (raw little-endian), .csv (the header
 * "close", then the shortest decimals that read back); whole or not at all (base/whole_file.h). swp_bars_read reads
 * back the same bits. BAD_PARAM for another ending; FILE; NO_MEMORY; CANCELLED when the flag (which may be NULL) was set
 * meanwhile: the place is as it was. */
SWP_MUST_CHECK swp_status swp__closes_write(const char *path, const double *close, uint64_t bars_count,
                                            const swp_cancel *cancel, swp_error *error);

#endif
