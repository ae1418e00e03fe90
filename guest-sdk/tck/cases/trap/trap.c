/* Trap executes an unreachable instruction, three calls deep, on rank 0; the
 * other ranks wait for it. */
#include "ccrun.h"

static int depth;

__attribute__((noinline)) static void fall(void) {
  depth++;
  __builtin_trap();
}

__attribute__((noinline)) static void walk(void) {
  depth++;
  fall();
}

int main(void) {
  ccrun_world_t world;
  if (ccrun_world(&world) != CCRUN_OK) return 1;
  if (world.rank == 0) walk();
  return (int)ccrun_barrier(CCRUN_FOREVER);
}
