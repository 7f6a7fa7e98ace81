/* Attention in C, with no library but the language's own.

   cc -std=c99 -O2 attention.c -lm -o attention
   ./attention        works "The cat sat it" and prints the weights and the blend
   ./attention -      reads calculations from standard input (see main) and prints the same for each */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Multiply number by number, and add up. */
static double dot_product(const double *a, const double *b, int n) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Scores into weights that add up to 1. A word that may not be looked at gets 0. */
static void softmax(const double *xs, const int *allowed, int n, double *weights) {
    double largest = -INFINITY, total = 0;
    for (int i = 0; i < n; i++)
        if (allowed[i] && xs[i] > largest) largest = xs[i];
    for (int i = 0; i < n; i++) {
        weights[i] = allowed[i] ? exp(xs[i] - largest) : 0; /* largest off: e^score cannot overflow */
        total += weights[i];
    }
    for (int i = 0; i < n; i++) weights[i] /= total; /* 0/0 is nan: it may look at nothing, there are no weights */
}

/* Each value counts as much as its weight says. */
static void weighted_average(const double *weights, const double *values, int n, int width, double *output) {
    for (int column = 0; column < width; column++) {
        output[column] = 0;
        for (int i = 0; i < n; i++) output[column] += weights[i] * values[i * width + column];
    }
}

/* The four steps for one query: compare, scale, softmax, blend. `weights` holds the scores in between. */
static void attend(const double *query, const double *keys, const double *values, const int *allowed, int n, int dim,
                   int width, double scale, double *weights, double *output) {
    for (int i = 0; i < n; i++) weights[i] = dot_product(query, keys + i * dim, dim) * scale;
    softmax(weights, allowed, n, weights);
    weighted_average(weights, values, n, width, output);
}

/* ---- running it ---- */

static void print_row(const char *name, const char *format, const double *row, int n) {
    fputs(name, stdout);
    for (int i = 0; i < n; i++) {
        if (i || *name) putchar(' ');
        printf(format, row[i]);
    }
    putchar('\n');
}

static double *room(int n) {
    double *numbers = malloc((size_t)(n > 0 ? n : 1) * sizeof *numbers);
    if (!numbers) {
        fputs("no memory\n", stderr);
        exit(1);
    }
    return numbers;
}

static double *read_numbers(int n) {
    double *numbers = room(n);
    for (int i = 0; i < n; i++)
        if (scanf("%lf", numbers + i) != 1) {
            fputs("a number is missing\n", stderr);
            exit(1);
        }
    return numbers;
}

int main(int argc, char **argv) {
    if (argc < 2 || strcmp(argv[1], "-")) {
        const double query[] = {1.0, 0.6};
        const double keys[] = {0.1, 0.0, 1.0, 0.8, 0.2, 0.9, 0.6, 0.5};
        const double values[] = {0.1, 0.1, 1.0, 0.2, 0.3, 0.9, 0.2, 0.3};
        const int allowed[] = {1, 1, 1, 1};
        double weights[4], output[2];
        attend(query, keys, values, allowed, 4, 2, 2, 1 / sqrt(2), weights, output);
        print_row("weights", "%.2f", weights, 4);
        print_row("output ", "%.2f", output, 2);
        return 0;
    }
    /* How many queries and keys, how long a key and a value is, what products are multiplied by; then all numbers:
       queries, keys, values, and for each query and key 1 if it may look there. As many calculations as there are. */
    int queries, n, dim, width;
    double scale;
    while (scanf("%d %d %d %d %lf", &queries, &n, &dim, &width, &scale) == 5) {
        double *asking = read_numbers(queries * dim), *keys = read_numbers(n * dim), *values = read_numbers(n * width);
        double *mask = read_numbers(queries * n), *weights = room(n), *output = room(width);
        int *allowed = malloc((size_t)(n > 0 ? n : 1) * sizeof *allowed);
        if (!allowed) return 1;
        for (int q = 0; q < queries; q++) {
            for (int i = 0; i < n; i++) allowed[i] = mask[q * n + i] == 1;
            attend(asking + q * dim, keys, values, allowed, n, dim, width, scale, weights, output);
            print_row("", "%.17g", weights, n);
            print_row("", "%.17g", output, width);
        }
        free(asking), free(keys), free(values), free(mask), free(weights), free(output), free(allowed);
    }
    return 0;
}
