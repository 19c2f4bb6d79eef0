/* Another program drives, in C: steers to the goal by GPS and compass, in lock step with the simulator.
 *
 *   gcc -O2 -std=c11 -o client 65_drive_client.c -lm
 *   tussock drive yard --from=-20,-20 --to=-12,-12 --out drive --share demo &
 *   ./client demo
 *
 * tussock_shared_memory.h beside it does the sharing; the channels are those of docs/drive.md. Exit status: 0 the drive is
 * over, 1 no such segment.
 */
#include "tussock_shared_memory.h"

#include <math.h>

int main(int count, char **words) {
    if (count != 2) {
        fprintf(stderr, "usage: %s NAME\n", words[0]);
        return 1;
    }
    if (attach(words[1]) != 0) return 1;
    struct channel *state = find("state"), *command = find("command"), *points = find("points");
    float *rows = malloc(points->shape[0] * 6 * sizeof *rows);
    for (uint64_t step; (step = next_step()) != 0;) {
        double s[16]; /* time, goal x, y, GPS time, x, y, z, fixes, yaw, ... */
        latest(state, s, sizeof *s);
        uint64_t n = latest(points, rows, 6 * sizeof *rows);
        int ahead = 0;
        double side = 0;
        for (uint64_t i = 0; i < n; i++) { /* as high as the bumper, near and ahead */
            const float *p = rows + 6 * i;
            if (p[2] > -1.4f && p[2] < 0.3f && p[0] > 0 && p[0] < 6 && fabsf(p[1]) < 1.5f) ahead++, side += p[1];
        }
        double bearing = remainder(atan2(s[2] - s[5], s[1] - s[4]) - s[8], 2 * acos(-1.0));
        double next[2] = {fabs(bearing) < 0.5 ? 2.0 : 0.3, bearing};
        if (ahead > 20) next[1] -= side > 0 ? 0.6 : -0.6;
        publish(command, next, 2, sizeof *next);
        answer(step);
    }
    free(rows);
    printf("the drive is over\n");
    return 0;
}
