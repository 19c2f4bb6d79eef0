/* A consumer in C, in lock step with the simulator: reads every frame, says where the sensor goes next.
 *
 *   gcc -O2 -std=c11 -o consumer 43_shared_memory.c -lm
 *   tussock stream yard --sensor vlp-16 --share demo --lockstep &
 *   ./consumer demo 5
 *
 * tussock_shared_memory.h beside it does the sharing. Exit status: 0 done, 1 no such segment, 2 the simulator has gone.
 */
#include "tussock_shared_memory.h"

#include <math.h>

int main(int count, char **words) {
    if (count != 3) {
        fprintf(stderr, "usage: %s NAME STEPS\n", words[0]);
        return 1;
    }
    if (attach(words[1]) != 0) return 1;
    struct channel *points = find("points"), *pose = find("pose_in"), *command = find("command");
    float *rows = malloc(points->shape[0] * 6 * sizeof *rows);
    int steps = atoi(words[2]);
    double x = 0;
    for (int k = 1; k <= steps; k++) {
        uint64_t step = next_step();
        if (step == 0) {
            fprintf(stderr, "the simulator has gone\n");
            return 2;
        }
        uint64_t n = latest(points, rows, 6 * sizeof *rows);
        double nearest = INFINITY;
        for (uint64_t i = 0; i < n; i++) {
            const float *p = rows + 6 * i;
            double d = sqrt((double)p[0] * p[0] + (double)p[1] * p[1] + (double)p[2] * p[2]);
            if (d < nearest) nearest = d;
        }
        printf("step %llu: %llu points, the nearest %.3f m away\n", (unsigned long long)step, (unsigned long long)n,
               nearest);
        double next[7] = {x += 0.5, 0, 2, 0, 0, 0, 1};
        publish(pose, next, 7, sizeof *next);
        if (k == steps) {
            int32_t stop = 2;
            publish(command, &stop, 1, sizeof stop);
        }
        answer(step);
    }
    free(rows);
    return 0;
}
