/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The analytic two-bone solver as Ryan Juckett's article (2008) describes it, written here from the mathematics:
 * the law of cosines for the second angle, the addition theorem for the first. */
#include <math.h>

/* Below this a product of lengths is not divided by. */
static const double TINY = 1e-4;

static int solve(double d1, double d2, double x, double y, int bend, double *angle1, double *angle2)
{
    int found = 1;
    double square = x * x + y * y, product = 2.0 * d1 * d2, cosine = 1.0, sine = 0.0;
    *angle2 = 0.0;
    if (product > TINY) {
        cosine = (square - d1 * d1 - d2 * d2) / product;
        if (cosine < -1.0 || cosine > 1.0) {
            found = 0;
        }
        cosine = fmax(-1.0, fmin(1.0, cosine));
        *angle2 = bend < 0 ? -acos(cosine) : acos(cosine);
        sine = sin(*angle2);
    }
    else {
        double reach = d1 + d2;
        found = square >= (reach - TINY) * (reach - TINY) && square <= (reach + TINY) * (reach + TINY);
    }
    double adjacent = d1 + d2 * cosine, opposite = d2 * sine;
    *angle1 = atan2(y * adjacent - x * opposite, x * adjacent + y * opposite);
    return found;
}

void solve_all(long count, double d1, double d2, int bend, const double *targets, double *angles, char *found)
{
    for (long i = 0; i < count; i++) {
        found[i] = (char)solve(
            d1, d2, targets[2 * i], targets[2 * i + 1], bend, angles + 2 * i, angles + 2 * i + 1);
    }
}
