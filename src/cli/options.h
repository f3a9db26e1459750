/* Command-line options from one table: each row says which commands take it, its name, argument, type, default, bounds and
 * help. The parser and the help texts read the table and nothing else, so they cannot drift apart.
 *
 * Words are `--name VALUE` or `--name=VALUE`; `--` ends the options; one word without dashes is the command's operand. An
 * option given twice takes its last value. */
#ifndef SWP_CLI_OPTIONS_H
#define SWP_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "engine/limits.h"
#include "swp/error.h"

typedef struct swp__arguments swp__arguments; /* arguments.h: the values */

typedef enum swp__option_type {
    SWP__OPTION_FLAG,   /* bool; takes no value */
    SWP__OPTION_TEXT,   /* const char * */
    SWP__OPTION_COUNT,  /* uint64_t, least..most */
    SWP__OPTION_REAL,   /* double, finite, low..high */
    SWP__OPTION_CHOICE, /* uint32_t: the index in `choices` */
    SWP__OPTION_SET,    /* uint32_t: bit i for each of `choices` in a list with commas */
    SWP__OPTION_KERNEL, /* uint32_t: the number swp_kernel_name has for it */
    SWP__OPTION_LIST,   /* swp__option_list: a text each time it is given */
} swp__option_type;

typedef struct swp__option {
    uint32_t commands;    /* bits of arguments.h */
    const char *name;     /* without dashes */
    const char *argument; /* as the help shows it; NULL: made from `choices` */
    swp__option_type type;
    size_t offset;       /* of the value in swp__arguments */
    const char *initial; /* the default as a person would type it; NULL: zero */
    bool required;
    uint64_t least, most;       /* COUNT */
    double low, high;           /* REAL */
    const char *const *choices; /* CHOICE, SET; NULL at the end */
    const char *const *abouts;  /* a line of help for each choice; NULL: none */
    const char *help;
} swp__option;

enum { SWP__OPTION_LIST_MAX = 64 };

typedef struct swp__option_list {
    size_t count;
    const char *texts[SWP__OPTION_LIST_MAX];
} swp__option_list;

/* Options that are a module's limits: their names, defaults, bounds and help are that module's own table. Their values,
 * uint64_t, take a unit: 512MiB, 30s. */
typedef struct swp__option_limits {
    const swp__limit_row *rows; /* NULL ends a list of these */
    const size_t *rows_count;
    size_t offset; /* of the struct in swp__arguments */
} swp__option_limits;

/* Of swp_entry, as --entry takes them. */
extern const char *const swp__entry_names[];

/* The one table; a row without a name ends it. */
extern const swp__option swp__option_table[];

enum {
    SWP__OPTIONS_MAX = 128, /* rows */
    SWP__KERNELS_MAX = 32,  /* kernels have numbers below it, with gaps where a build lacks one */
};

typedef struct swp__command {
    uint32_t bit;        /* of arguments.h */
    const char *name;    /* "bench sweep": the words that choose it; "": the program has no other */
    const char *operand; /* "FILE"; "[FILE]": may be left out; NULL: takes none */
    const char *summary; /* one line */
    const char *details; /* paragraphs of the help; NULL: none */
    const char *examples;
    int (*run)(const swp__arguments *arguments); /* the exit code */
    const swp__option_limits *limits;            /* more options; NULL: none */
} swp__command;

/* Fills *arguments from the words behind the command's name: the defaults first, then what is given. Stops at --help or -h
 * with arguments->help set and nothing else checked. BAD_PARAM (at: none) names the word, what was expected and, for a
 * misspelt name, the nearest one. */
SWP_MUST_CHECK swp_status swp__options_parse(const swp__command *command, int words_count, char *const *words,
                                             swp__arguments *arguments, swp_error *error);

/* Whether the option was on the command line: for a default that another option replaces. */
bool swp__options_given(const swp__arguments *arguments, const char *name);

/* The help of one command: usage, details, options, examples. */
void swp__options_print_help(FILE *out, const char *program, const swp__command *command);

#endif
